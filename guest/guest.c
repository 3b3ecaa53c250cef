/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/guest.h"

#include <stdlib.h>

void *guest_new(size_t size, const struct guest_ops *ops, const struct guest_info *info,
		const bool *wanted, struct error *err)
{
	struct guest *guest = calloc(1, size);

	if (guest)
		guest->vcpu = calloc(info->vcpus, sizeof(*guest->vcpu));
	if (!guest || !guest->vcpu) {
		free(guest);
		error_set(err, "out of memory");
		return NULL;
	}
	guest->ops = ops;
	guest->info = *info;
	for (unsigned int i = 0; i < info->vcpus; i++)
		guest->vcpu[i].wanted = !wanted || wanted[i];
	return guest;
}

void guest_free(struct guest *guest)
{
	free(guest->vcpu);
	free(guest);
}

enum cpu_kind guest_kind(const struct guest *guest)
{
	enum cpu_kind longest = CPU_UNKNOWN;

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		enum cpu_kind kind = cpu_kind(&guest->vcpu[i].cpu);

		if (guest->vcpu[i].captured &&
		    (longest == CPU_UNKNOWN ||
		     cpu_kind_word(kind) > cpu_kind_word(longest)))
			longest = kind;
	}
	return longest;
}

bool guest_has_started(const struct guest *guest, unsigned int vcpu)
{
	const struct guest_vcpu *seen = &guest->vcpu[vcpu];

	return cpu_has_started(&seen->cpu) && !(vcpu > 0 && seen->state == VCPU_BLOCKED &&
						cpu_is_in_firmware(&seen->cpu));
}
