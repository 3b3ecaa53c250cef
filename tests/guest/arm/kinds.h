/* The kinds of attacks (hostile.c); each spins in its own function (spin*.S). */
#ifndef KINDS_H
#define KINDS_H

#define HOSTILE_KINDS(x)                                                              \
	x(self) x(pair) x(endless) x(unmapped) x(noncanonical) x(unaligned) x(across) \
		x(cut) x(recursive) x(beyond) x(ones) x(huge) x(reserved) x(flicker)  \
			x(remap) x(moving) x(storm) x(nowhere) x(balloon) x(device)   \
				x(grants) x(apart)

#endif
