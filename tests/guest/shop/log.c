/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/guest/shop/shop.h"

APART void log_request(void)
{
	mutex_lock(&log_lock);
	write_line(append_line());
	mutex_unlock(&log_lock);
}
