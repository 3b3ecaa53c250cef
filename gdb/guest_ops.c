/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/guest.h"

#include <stdlib.h>
#include <string.h>

#include "gdb/internal.h"
#include "gdb/memory.h"

/* Number of vCPUs whose registers are requested at once. */
#define AT_ONCE 8

struct gdb_guest {
	struct guest guest;
	struct gdb *gdb;
	struct gdb_memory *memory;
	/* read while someone else held the guest, so the stub uses physical addresses */
	bool is_taken;
};

static struct gdb_guest *gdb_guest_of(struct guest *guest)
{
	return (struct gdb_guest *)guest;
}

/* Makes the stub use physical or virtual addresses; with @stops, stops the guest first.
 */
static int set_addresses(struct gdb *gdb, bool stops, bool physical, struct error *err)
{
	struct commands commands = {.count = 0};

	if (stops)
		commands_interrupt(&commands);
	commands_add(&commands, "Qqemu.PhyMemMode:%d", physical);
	if (stub_send(&gdb->stub, &commands, err) < 0)
		return -1;
	return stub_expect_ok(&gdb->stub, err);
}

/* Ends a look at a guest that someone else holds, or has continued meanwhile. */
static void release_guest(struct gdb *gdb, struct error *err)
{
	if (stub_acknowledge(&gdb->stub, err) < 0)
		return;
	gdb_hold(gdb, true);
	if (set_addresses(gdb, true, false, err) < 0)
		return;
	if (gdb->stub.stops)
		gdb_continue(gdb, err);
	gdb_hold(gdb, false);
}

static void close_guest(struct guest *guest)
{
	struct gdb_guest *target = gdb_guest_of(guest);
	struct error ignored;

	if (target->is_taken)
		release_guest(target->gdb, &ignored);
	gdb_memory_free(target->memory);
	guest_free(guest);
}

static int observe_guest(struct guest *guest, uint64_t now, enum observation *observation,
			 struct error *err)
{
	struct gdb *gdb = gdb_guest_of(guest)->gdb;

	(void)now;
	*observation = OBSERVED_RUNNING;
	if (stub_look(&gdb->stub, err) < 0) {
		*observation = OBSERVED_GONE;
		return gdb->stub.has_ended ? 0 : -1;
	}
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		guest->vcpu[i].online = true;
		guest->vcpu[i].cpu_time = CPU_TIME_UNKNOWN;
	}
	return 0;
}

static const char *ending_of(const struct guest *guest)
{
	(void)guest;
	return "has ended";
}

static void prepare_pause(struct guest *guest)
{
	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		guest->vcpu[i].captured = false;
}

/* Whether 'g' shows the register; 'p' shows any. */
static bool is_in_g(const struct gdb *gdb, unsigned int i)
{
	const struct gdb_register *reg = &gdb->registers.at[i];

	return reg->offset + reg->size <= gdb->g_size;
}

static void ask_vcpu(const struct gdb *gdb, unsigned int vcpu, struct commands *commands)
{
	commands_add(commands, "Hg%s", gdb->thread[vcpu]);
	commands_add(commands, "qThreadExtraInfo,%s", gdb->thread[vcpu]);
	commands_add(commands, "g");
	for (unsigned int i = 0; i < gdb->needed; i++)
		if (!is_in_g(gdb, i))
			commands_add(commands, "p%x", gdb->registers.at[i].number);
}

/* QEMU shows "CPU#0 [halted ]" or "[running]", which is exact where it emulates halting.
 */
static enum vcpu_state state_of(const struct packet *reply)
{
	char text[128];
	size_t size = reply->length / 2;

	size = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
	if (!packet_bytes(reply->text, reply->length, text, size))
		return VCPU_UNKNOWN;
	text[size] = 0;
	return strstr(text, "[halted") ? VCPU_BLOCKED : VCPU_RUNNING;
}

static bool read_from_g(const struct gdb *gdb, const struct packet *reply,
			uint64_t *value)
{
	for (unsigned int i = 0; i < gdb->needed; i++) {
		const struct gdb_register *reg = &gdb->registers.at[i];
		size_t at = 2 * (size_t)reg->offset;

		if (is_in_g(gdb, i) &&
		    (at > reply->length ||
		     !packet_number(reply->text + at, reply->length - at, reg->size,
				    &value[i])))
			return false;
	}
	return true;
}

/* Takes the replies about a vCPU. If the stub no longer has it, or if it was never
 * started, it is not captured. */
static int take_vcpu(struct gdb_guest *target, unsigned int number, struct error *err)
{
	struct guest_vcpu *vcpu = &target->guest.vcpu[number];
	struct gdb *gdb = target->gdb;
	uint64_t value[GDB_REGISTERS] = {0};
	struct packet reply;
	bool is_good;

	if (stub_reply(&gdb->stub, &reply, err) < 0)
		return -1;
	is_good = strcmp(reply.text, "OK") == 0;
	if (stub_reply(&gdb->stub, &reply, err) < 0)
		return -1;
	vcpu->state = state_of(&reply);
	if (stub_reply(&gdb->stub, &reply, err) < 0)
		return -1;
	is_good &= read_from_g(gdb, &reply, value);
	for (unsigned int i = 0; i < gdb->needed; i++) {
		if (is_in_g(gdb, i))
			continue;
		if (stub_reply(&gdb->stub, &reply, err) < 0)
			return -1;
		is_good &= packet_number(reply.text, reply.length,
					 gdb->registers.at[i].size, &value[i]);
	}
	gdb_registers_cpu(&gdb->registers, value, &vcpu->cpu);
	vcpu->online = is_good && guest_has_started(&target->guest, number);
	vcpu->captured = vcpu->online;
	return 0;
}

static int capture_vcpus(struct gdb_guest *target, struct error *err)
{
	unsigned int vcpus = target->guest.info.vcpus, asked = 0, taken = 0;
	struct gdb *gdb = target->gdb;

	while (taken < vcpus) {
		struct commands commands = {.count = 0};

		for (; asked < vcpus && asked < taken + AT_ONCE; asked++)
			if (target->guest.vcpu[asked].wanted)
				ask_vcpu(gdb, asked, &commands);
		if (stub_send(&gdb->stub, &commands, err) < 0)
			return -1;
		for (; taken < asked; taken++)
			if (target->guest.vcpu[taken].wanted &&
			    take_vcpu(target, taken, err) < 0)
				return -1;
	}
	return 0;
}

/*
 * Stops the guest: 0, PAUSE_HELD, or -1. The stub reports the stop, but only if the guest
 * ran. If someone else stopped the guest, the stub has reported that stop already.
 */
static int stop_guest(struct gdb *gdb, struct error *err)
{
	gdb->is_held |= gdb->stub.stops > 0;
	gdb->stub.stops = 0;
	gdb_hold(gdb, true);
	if (set_addresses(gdb, true, true, err) < 0)
		return -1;
	if (gdb->stub.stops) {
		gdb->is_held = false;
		return 0;
	}
	if (gdb->is_held)
		return PAUSE_HELD;
	return error_set(err, "the GDB stub at %s does not say when the guest stops",
			 gdb->place);
}

/* Returns what pause() returns after a failure, which leaves it to the guard to continue
 * the guest. */
static int pause_failure(const struct gdb *gdb)
{
	return gdb->stub.has_ended ? PAUSE_GONE : -1;
}

static int pause_guest(struct guest *guest, struct error *err)
{
	struct gdb_guest *target = gdb_guest_of(guest);
	struct gdb *gdb = target->gdb;
	int status = stop_guest(gdb, err);

	if (status == PAUSE_HELD) {
		if (set_addresses(gdb, false, false, err) < 0 ||
		    stub_acknowledge(&gdb->stub, err) < 0)
			return pause_failure(gdb);
		gdb_hold(gdb, false);
		return PAUSE_HELD;
	}
	if (status < 0 || capture_vcpus(target, err) < 0)
		return pause_failure(gdb);
	gdb_memory_stopped(target->memory, true);
	return 0;
}

static int resume_guest(struct guest *guest, struct error *err)
{
	struct gdb_guest *target = gdb_guest_of(guest);
	int status = gdb_memory_status(target->memory, err);

	gdb_memory_stopped(target->memory, false);
	if (status < 0 || gdb_continue(target->gdb, err) < 0)
		return pause_failure(target->gdb);
	return 0;
}

static uint64_t finish_pause(struct guest *guest)
{
	(void)guest;
	return 0;
}

/* Someone else's pause has no limit, and the guard must not end it. */
static int take_guest(struct guest *guest, struct error *err)
{
	struct gdb_guest *target = gdb_guest_of(guest);
	int status = stop_guest(target->gdb, err);

	if (status == PAUSE_HELD)
		gdb_hold(target->gdb, false);
	if (status < 0 || capture_vcpus(target, err) < 0)
		return -1;
	if (status == 0) {
		gdb_continue(target->gdb, err);
		return error_set(err, "'%s' has been continued meanwhile: try again",
				 guest->info.name);
	}
	gdb_memory_stopped(target->memory, true);
	target->is_taken = true;
	return 0;
}

static bool learn_modes(struct guest *guest)
{
	(void)guest;
	return false;
}

static const struct guest_ops operations = {
	.close = close_guest,
	.observe = observe_guest,
	.ending = ending_of,
	.prepare = prepare_pause,
	.pause = pause_guest,
	.resume = resume_guest,
	.finish = finish_pause,
	.take = take_guest,
	.learn_modes = learn_modes,
	.kind = guest_kind,
	.begin_pages = gdb_memory_begin,
	.get_page = gdb_memory_page,
	.map_page = gdb_memory_page,
	.pages_missed = gdb_memory_missed,
	.page_misses = gdb_memory_misses,
};

struct guest *gdb_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err)
{
	struct gdb_guest *target = guest_new(sizeof(*target), &operations, info, wanted,
					     err);

	if (!target)
		return NULL;
	target->gdb = gdb_of(host);
	target->memory = gdb_memory_new(&target->gdb->stub, &target->gdb->regions, err);
	if (!target->memory) {
		close_guest(&target->guest);
		return NULL;
	}
	target->guest.memory = target->memory;
	return &target->guest;
}
