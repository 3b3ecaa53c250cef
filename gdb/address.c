/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/address.h"

#include <netdb.h>
#include <string.h>
#include <sys/un.h>

#include "base/parse.h"

/* The longest name of a host (RFC 1035, section 2.3.4), which must fit into a guest's
 * name. */
#define HOST_MAX 200

static int find_path(const char *path, struct gdb_address *address, struct error *err)
{
	struct sockaddr_un *name = (struct sockaddr_un *)&address->socket;

	if (!*path)
		return error_set(err, "the path of the socket is missing");
	if (strlen(path) >= sizeof(name->sun_path))
		return error_set(err, "the path of a socket may have %zu bytes",
				 sizeof(name->sun_path) - 1);
	name->sun_family = AF_UNIX;
	memcpy(name->sun_path, path, strlen(path) + 1);
	address->size = sizeof(*name);
	return 0;
}

/* Copies the host out of "HOST:PORT" or "[HOST]:PORT", and returns the port; NULL if it
 * has another form. */
static const char *split_host(const char *text, char *host)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	uint64_t port;

	if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	if (!length || length > HOST_MAX || parse_number(colon + 1, 1, 65535, &port) < 0)
		return NULL;
	memcpy(host, text, length);
	host[length] = 0;
	return colon + 1;
}

static int find_host(const char *text, struct gdb_address *address, struct error *err)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct addrinfo *found = NULL, wanted = {.ai_socktype = SOCK_STREAM};
	char host[HOST_MAX + 1];
	const char *port = split_host(text, host);
	int status = EAI_NONAME;

	if (!port)
		return error_set(err, "not tcp:HOST:PORT");
	if (!address)
		return 0;
	for (size_t i = 0; i < 2 && status; i++) {
		wanted.ai_family = families[i];
		status = getaddrinfo(host, port, &wanted, &found);
	}
	if (status)
		return error_set(err, "can't find the host '%s': %s", host,
				 gai_strerror(status));
	memcpy(&address->socket, found->ai_addr, found->ai_addrlen);
	address->size = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

/* Finds the socket's address; only checks @text if @address is NULL. */
static int find_address(const char *text, struct gdb_address *address, struct error *err)
{
	struct gdb_address unused;

	if (strncmp(text, "unix:", 5) == 0)
		return find_path(text + 5, address ? address : &unused, err);
	if (strncmp(text, "tcp:", 4) == 0)
		return find_host(text + 4, address, err);
	return error_set(err, "neither unix:PATH nor tcp:HOST:PORT");
}

int gdb_address_check(const char *text, struct error *err)
{
	return find_address(text, NULL, err);
}

int gdb_address_find(const char *text, struct gdb_address *address, struct error *err)
{
	*address = (struct gdb_address){0};
	return find_address(text, address, err);
}
