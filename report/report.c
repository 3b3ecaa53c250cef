/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

int report_write(struct profile *profile, const struct output *format,
		 const struct report_view *view, bool is_watched, FILE *out,
		 struct error *err)
{
	struct report report = profile_report(profile);
	struct error why = {""};
	void *state;
	int status;

	report.view = *view;
	report.out = out;
	report.why = &why;
	state = format->begin(&report);
	status = state ? profile_read(profile, out, is_watched, format->sample, state,
				      err)
		       : profile_out_of_memory(err);
	if (status == 0) {
		profile_complete(profile, &report);
		if (format->end(state) < 0)
			status = profile_out_of_memory(err);
	}
	if (status < 0 && why.text[0])
		*err = why;
	if (state)
		format->free(state);
	return status;
}
