/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/guest.h"

enum cpu_kind guest_kind(const struct guest *guest)
{
	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		if (guest->vcpu[i].captured)
			return cpu_kind(&guest->vcpu[i].cpu);
	return CPU_UNKNOWN;
}
