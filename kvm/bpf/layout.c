/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/bpf/layout.h"

#include "kvm/bpf/types.h"

#define OLDEST_HASH 128 /* number of lists, if the structure does not tell */

static const char *const members[KERNEL_MEMBERS][2] = {
	[TASK_FILES] = {"task_struct", "files"},
	[TASK_PID] = {"task_struct", "thread_pid"},
	[FILES_TABLE] = {"files_struct", "fdt"},
	[TABLE_SIZE] = {"fdtable", "max_fds"},
	[TABLE_FILES] = {"fdtable", "fd"},
	[FILE_DENTRY] = {"file", "f_path.dentry"},
	[FILE_PRIVATE] = {"file", "private_data"},
	[DENTRY_SUPER] = {"dentry", "d_sb"},
	[DENTRY_NAME] = {"dentry", "d_name.name"},
	[SUPER_MAGIC] = {"super_block", "s_magic"},
	[PID_LEVEL] = {"pid", "level"},
	[PID_NUMBERS] = {"pid", "numbers"},
	[UPID_NUMBER] = {"upid", "nr"},
	[UPID_SPACE] = {"upid", "ns"},
	[VCPU_VM] = {"kvm_vcpu", "kvm"},
	[VCPU_PID] = {"kvm_vcpu", "pid"},
	[VM_SLOTS] = {"kvm", "memslots"},
	[SLOTS_GENERATION] = {"kvm_memslots", "generation"},
	[SLOT_FRAME] = {"kvm_memory_slot", "base_gfn"},
	[SLOT_PAGES] = {"kvm_memory_slot", "npages"},
	[SLOT_ADDRESS] = {"kvm_memory_slot", "userspace_addr"},
	[SLOTS_HASH] = {"kvm_memslots", "id_hash"},
	[SLOTS_INDEX] = {"kvm_memslots", "node_idx"},
	[SLOT_NODES] = {"kvm_memory_slot", "id_node"},
	[SLOTS_USED] = {"kvm_memslots", "used_slots"},
	[SLOTS_ARRAY] = {"kvm_memslots", "memslots"},
	[VCPU_EXITS] = {"kvm_vcpu", "stat.exits"},
	[VCPU_CPU] = {"kvm_vcpu", "cpu"},
	[VCPU_INDEX] = {"kvm_vcpu", "vcpu_idx"},
	[VCPU_REGISTERS] = {"kvm_vcpu", "arch.ctxt.regs"},
	[VCPU_SYSTEM] = {"kvm_vcpu", "arch.ctxt.sys_regs"},
	[VCPU_TRAPS] = {"kvm_vcpu", "arch.hcr_el2"},
	[VM_ONLINE] = {"kvm", "online_vcpus"},
	[VCPU_NESTED] = {"kvm_vcpu", "arch.ctxt.vncr_array"},
	[VCPU_STATE] = {"kvm_vcpu", "arch.mp_state.mp_state"},
	[VCPU_OFF] = {"kvm_vcpu", "arch.power_off"},
	[VM_PROTECTED] = {"kvm", "arch.pkvm.is_protected"},
	[VM_ENABLED] = {"kvm", "arch.pkvm.enabled"},
	[VM_REALM] = {"kvm", "arch.is_realm"},
	[VM_VCPUS] = {"kvm", "vcpus"},
	[VM_TREE] = {"kvm", "vcpu_array.xa_head"},
	[NODE_SHIFT] = {"xa_node", "shift"},
	[NODE_SLOTS] = {"xa_node", "slots"},
};

/* Enumerators of enum vcpu_sysreg, which are in another order in many releases. */
static const char *const systems[KERNEL_SYSTEMS] = {
	[SYSTEM_SCTLR] = "SCTLR_EL1", [SYSTEM_TCR] = "TCR_EL1",
	[SYSTEM_TTBR0] = "TTBR0_EL1", [SYSTEM_TTBR1] = "TTBR1_EL1",
	[SYSTEM_SP] = "SP_EL1",
};

static bool find_member(const struct btf *types, struct kernel_layout *layout,
			unsigned int member)
{
	uint64_t offset;

	if (!btf_member(types, members[member][0], members[member][1], &offset) ||
	    offset > INT32_MAX / 2)
		return false;
	layout->offset[member] = (int32_t)offset;
	return true;
}

/* The hash table is followed by the index of the tables, of 4 bytes. */
static bool find_slots(const struct btf *types, struct kernel_layout *layout)
{
	int32_t lists;

	layout->buckets = 0;
	if (find_member(types, layout, SLOTS_HASH)) {
		if (!find_member(types, layout, SLOTS_INDEX) ||
		    !find_member(types, layout, SLOT_NODES))
			return false;
		lists = (layout->offset[SLOTS_INDEX] - layout->offset[SLOTS_HASH]) / 8;
		layout->buckets = lists > 0 && lists <= 1 << 16 ? (uint32_t)lists
								: OLDEST_HASH;
		return true;
	}
	return find_member(types, layout, SLOTS_USED) &&
	       find_member(types, layout, SLOTS_ARRAY) &&
	       btf_size(types, "kvm_memory_slot", &layout->slot_size) &&
	       layout->slot_size && layout->slot_size < 1 << 16;
}

static int find_members(const struct btf *types, struct kernel_layout *layout,
			struct error *err)
{
	for (unsigned int i = 0; i < MEMBERS_NEEDED; i++)
		if (!find_member(types, layout, i))
			return error_set(err, "this kernel does not tell where %s.%s is",
					 members[i][0], members[i][1]);
	find_member(types, layout, VCPU_EXITS);
	if (!find_slots(types, layout) || !btf_size(types, "upid", &layout->upid_size) ||
	    layout->upid_size > 1 << 16)
		return error_set(err, "this kernel does not tell where memory slots are");
	return 0;
}

/* Finds a place for each system register: before Linux 5.9, some had another. */
static bool find_systems(const struct btf *types, struct kernel_layout *layout)
{
	for (unsigned int i = 0; i < KERNEL_SYSTEMS; i++) {
		int32_t number;

		if (!btf_enumerator(types, "vcpu_sysreg", systems[i], &number) ||
		    number < 0 || number > 1 << 16)
			return false;
		layout->system[i] = 8 * number;
	}
	return true;
}

/* Instructions that a read takes, and each further word of one (counted on Linux 6.1). */
#define READ_COST 90
#define WORD_COST 9

/* Finds the system registers that are so close together that one read is cheaper than a
 * read for each. */
static void find_part(struct kernel_layout *layout)
{
	int most = -1;

	for (unsigned int i = 0; i < KERNEL_SYSTEMS * KERNEL_SYSTEMS; i++) {
		int32_t start = layout->system[i / KERNEL_SYSTEMS],
			size = layout->system[i % KERNEL_SYSTEMS] + 8 - start;
		int saved = WORD_COST - WORD_COST * size / 8;

		if (size < 8 || size > 8 * KERNEL_SYSTEMS_SPAN)
			continue;
		for (unsigned int k = 0; k < KERNEL_SYSTEMS; k++)
			if (layout->system[k] >= start &&
			    layout->system[k] < start + size)
				saved += READ_COST;
		if (saved <= most)
			continue;
		most = saved;
		layout->system_start = start;
		layout->system_size = size;
	}
}

/* Finds what the registers of arm64's vCPUs need. */
static int find_registers(const struct btf *types, struct kernel_layout *layout,
			  struct error *err)
{
	for (unsigned int i = VCPU_CPU; i < VCPU_NESTED; i++)
		if (!find_member(types, layout, i))
			return error_set(err, "this kernel does not tell where %s.%s is",
					 members[i][0], members[i][1]);
	for (unsigned int i = VCPU_NESTED; i < KERNEL_MEMBERS; i++)
		find_member(types, layout, i);
	if ((!layout->offset[VCPU_STATE] && !layout->offset[VCPU_OFF]) ||
	    (layout->offset[VM_TREE] ? !layout->offset[NODE_SLOTS]
				     : !layout->offset[VM_VCPUS]) ||
	    !find_systems(types, layout))
		return error_set(err, "this kernel does not tell where the registers of "
				      "vCPUs are");
	find_part(layout);
	return 0;
}

int kernel_layout_find(struct kernel_layout *layout, bool has_registers,
		       struct error *err)
{
	struct kernel_types types;
	int status;

	if (kernel_types_open(&types, "kvm", err) < 0)
		return -1;
	*layout = (struct kernel_layout){.buckets = 0};
	status = find_members(types.all, layout, err);
	if (status == 0 && has_registers)
		status = find_registers(types.all, layout, err);
	kernel_types_close(&types);
	return status;
}
