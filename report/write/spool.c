/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/write/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Where tmpfile() creates its files. */
#define NAME "a temporary file in " P_tmpdir

int spool_open(struct spool *spool, const uint64_t *recorded, struct error *err)
{
	FILE *file = tmpfile();
	int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;

	*spool = (struct spool){0};
	if (fd >= 0)
		spool->out = stream_open(&spool->writes, fd);
	if (!spool->out)
		error_errno(err, errno, "can't create " NAME);
	if (!spool->out && fd >= 0)
		close(fd);
	if (file)
		fclose(file);
	spool->writes.recorded = recorded;
	return spool->out ? 0 : -1;
}

int spool_read(struct spool *spool, struct error *err)
{
	bool failed = ferror(spool->out);

	failed |= fclose(spool->out) != 0; /* writes the rest */
	spool->out = NULL;
	if (failed) {
		close(spool->writes.fd);
		return stream_explain(&spool->writes, NAME, err);
	}
	spool->in = fdopen(spool->writes.fd, "r");
	if (spool->in) {
		rewind(spool->in);
		return 0;
	}
	error_errno(err, errno, "can't read " NAME);
	close(spool->writes.fd);
	return -1;
}

int spool_check(const struct spool *spool, struct error *err)
{
	if (spool->out && ferror(spool->out))
		return stream_explain(&spool->writes, NAME, err);
	if (spool->in && ferror(spool->in))
		return error_set(err, "can't read " NAME);
	return 0;
}

void spool_close(struct spool *spool)
{
	if (spool->out) {
		fclose(spool->out);
		close(spool->writes.fd);
	}
	if (spool->in)
		fclose(spool->in);
	*spool = (struct spool){0};
}
