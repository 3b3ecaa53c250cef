# SPDX-License-Identifier: BSD-3-Clause
"""Decodes profiles of OpenTelemetry, and checks them against the schema: otlp.py FILE

Prints NAME SELF TOTAL of each function, separated by tabs. The schema is that of version
1.10.0 of opentelemetry-proto: what it does not have, is an error, and so are indexes that lead
nowhere, items that nothing refers to, and tables that do not begin with an empty item.
"""

import sys
from collections import Counter

from protobuf import I64, LEN, VARINT, packed, typed_fields

# By message: the number of each field, its name, its type, and whether it is repeated. The type
# of an index is the name of its table in the dictionary.
SCHEMA = {
    "Request": {
        1: ("resource_profiles", "ResourceProfiles", True),
        2: ("dictionary", "Dictionary", False),
    },
    "ResourceProfiles": {
        1: ("resource", "Resource", False),
        2: ("scope_profiles", "ScopeProfiles", True),
        3: ("schema_url", "text", False),
    },
    "Resource": {
        1: ("attributes", "KeyValue", True),
        2: ("dropped_attributes_count", "number", False),
    },
    "KeyValue": {
        1: ("key", "text", False),
        2: ("value", "AnyValue", False),
        3: ("key_strindex", "strings", False),
    },
    "AnyValue": {
        1: ("string_value", "text", False),
        2: ("bool_value", "number", False),
        3: ("int_value", "number", False),
        4: ("double_value", "fixed", False),
        7: ("bytes_value", "bytes", False),
        8: ("string_value_strindex", "strings", False),
    },
    "ScopeProfiles": {
        1: ("scope", "Scope", False),
        2: ("profiles", "Profile", True),
        3: ("schema_url", "text", False),
    },
    "Scope": {
        1: ("name", "text", False),
        2: ("version", "text", False),
        3: ("attributes", "KeyValue", True),
        4: ("dropped_attributes_count", "number", False),
    },
    "Profile": {
        1: ("sample_type", "ValueType", False),
        2: ("samples", "Sample", True),
        3: ("time_unix_nano", "fixed", False),
        4: ("duration_nano", "number", False),
        5: ("period_type", "ValueType", False),
        6: ("period", "number", False),
        7: ("profile_id", "bytes", False),
        8: ("dropped_attributes_count", "number", False),
        9: ("original_payload_format", "text", False),
        10: ("original_payload", "bytes", False),
        11: ("attribute_indices", "attributes", True),
    },
    "ValueType": {
        1: ("type_strindex", "strings", False),
        2: ("unit_strindex", "strings", False),
    },
    "Sample": {
        1: ("stack_index", "stacks", False),
        2: ("attribute_indices", "attributes", True),
        3: ("link_index", "links", False),
        4: ("values", "number", True),
        5: ("timestamps_unix_nano", "fixed", True),
    },
    "Dictionary": {
        1: ("mappings", "Mapping", True),
        2: ("locations", "Location", True),
        3: ("functions", "Function", True),
        4: ("links", "Link", True),
        5: ("strings", "text", True),
        6: ("attributes", "Attribute", True),
        7: ("stacks", "Stack", True),
    },
    "Mapping": {
        1: ("memory_start", "number", False),
        2: ("memory_limit", "number", False),
        3: ("file_offset", "number", False),
        4: ("filename_strindex", "strings", False),
        5: ("attribute_indices", "attributes", True),
    },
    "Location": {
        1: ("mapping_index", "mappings", False),
        2: ("address", "number", False),
        3: ("lines", "Line", True),
        4: ("attribute_indices", "attributes", True),
    },
    "Line": {
        1: ("function_index", "functions", False),
        2: ("line", "number", False),
        3: ("column", "number", False),
    },
    "Function": {
        1: ("name_strindex", "strings", False),
        2: ("system_name_strindex", "strings", False),
        3: ("filename_strindex", "strings", False),
        4: ("start_line", "number", False),
    },
    "Link": {1: ("trace_id", "bytes", False), 2: ("span_id", "bytes", False)},
    "Attribute": {
        1: ("key_strindex", "strings", False),
        2: ("value", "AnyValue", False),
        3: ("unit_strindex", "strings", False),
    },
    "Stack": {1: ("location_indices", "locations", True)},
}
TABLES = [name for name, _, _ in SCHEMA["Dictionary"].values()]


def decode(message, data, used):
    """Returns a message as a dictionary. Adds to @used the (table, index) that it refers to."""
    result = {name: [] for name, _, repeated in SCHEMA[message].values() if repeated}
    for number, wire, value in typed_fields(data):
        assert number in SCHEMA[message], f"{message} has no field {number}"
        name, kind, repeated = SCHEMA[message][number]
        what = f"{message}.{name}"
        is_number = kind == "number" or kind in TABLES
        expected = VARINT if is_number and not repeated else I64 if kind == "fixed" else LEN
        assert wire == expected, f"{what}: wire type {wire}"
        if is_number and repeated:
            values = list(packed(value))
        elif kind == "fixed":
            values = [int.from_bytes(value, "little")]
        elif kind in SCHEMA:
            values = [decode(kind, value, used)]
        else:
            values = [value.decode() if kind == "text" else value]
        if kind in TABLES:
            used.update((kind, index) for index in values)
        if repeated:
            result[name] += values
        else:
            assert name not in result, f"{what}: several"
            result[name] = values[0]
    return result


class Profiles:
    """A decoded request"""

    def __init__(self, data):
        used = set()
        request = decode("Request", data, used)
        self.resources = request["resource_profiles"]
        self.tables = request["dictionary"]
        for table in TABLES:
            items = self.tables[table]
            assert items, f"{table}: empty"
            indexes = {index for of, index in used if of == table} - {0}
            assert indexes == set(range(1, len(items))), f"{table}: {indexes}, {len(items)}"
            if table == "links":
                assert items == [{"trace_id": bytes(16), "span_id": bytes(8)}], items
            else:
                first = items[0] if isinstance(items[0], str) else any(items[0].values())
                assert not first, f"{table}[0]: {items[0]}"

    def string(self, index):
        return self.tables["strings"][index]

    def attributes(self, indexes):
        """Returns attributes by key"""
        items = [self.tables["attributes"][index] for index in indexes]
        result = {}
        for item in items:
            (value,) = item["value"].values()
            result[self.string(item["key_strindex"])] = value
        assert len(result) == len(items), "a key is repeated"
        return result

    def chain(self, sample):
        """Returns the names of a sample's functions, innermost first"""
        locations = self.tables["stacks"][sample["stack_index"]]["location_indices"]
        lines = [line for at in locations for line in self.tables["locations"][at]["lines"]]
        functions = [self.tables["functions"][line["function_index"]] for line in lines]
        return [self.string(function["name_strindex"]) for function in functions]

    def profiles(self):
        """Yields the attributes of the resource, and a profile"""
        for resource in self.resources:
            attributes = resource["resource"]["attributes"]
            named = {item["key"]: tuple(item["value"].values())[0] for item in attributes}
            assert len(named) == len(attributes), "a key is repeated"
            for scope in resource["scope_profiles"]:
                assert scope["scope"]["name"] == "uniprof"
                for profile in scope["profiles"]:
                    yield named, profile

    def sample_type(self, profile):
        kind = profile["sample_type"]
        return "/".join(self.string(kind[name]) for name in ("type_strindex", "unit_strindex"))


def check(body):
    """Describes a request; raises an exception if there is something wrong with it."""
    profiles = Profiles(body)
    said = []
    for resource, profile in profiles.profiles():
        by_attribute = Counter()
        identities = set()
        for sample in profile["samples"]:
            (value,) = sample["values"]
            attributes = profiles.attributes(sample["attribute_indices"])
            identity = (sample["stack_index"], *sorted(sample["attribute_indices"]))
            assert identity not in identities, "two samples of one identity"
            identities.add(identity)
            assert profiles.chain(sample), "a sample without functions"
            for key, of in attributes.items():
                by_attribute[f"{key}={of}"] += value
        said.append(
            " ".join(
                [f"{key}={value}" for key, value in sorted(resource.items())]
                + [f"{profile['time_unix_nano']} + {profile['duration_nano']} ns"]
                + [f"{sum(sample['values'][0] for sample in profile['samples'])}"]
                + [profiles.sample_type(profile)]
                + [f"{key}:{count}" for key, count in sorted(by_attribute.items())]
            )
        )
    return "; ".join(said)


def main():
    with open(sys.argv[1], "rb") as file:
        profiles = Profiles(file.read())
    own, total = Counter(), Counter()
    for _, profile in profiles.profiles():
        for sample in profile["samples"]:
            chain, (value,) = profiles.chain(sample), sample["values"]
            own[chain[0]] += value
            for name in set(chain):
                total[name] += value
    for name in sorted(total, key=str.encode):
        print(name, own[name], total[name], sep="\t")


if __name__ == "__main__":
    main()
