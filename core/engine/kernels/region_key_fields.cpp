#include "engine/kernels/region_key_fields.h"

#include "analysis/structural_key_parts.h"
#include "base/data_type.h"
#include "base/hash.h"
#include "base/key_fields.h"
#include "base/text.h"
#include "engine/kernels/region_key.h"

// Reads what region_key.cpp writes, in the same order.
namespace fusescope {
namespace {

/// What the key of a region says of a value.
struct DescribedValue {
  std::vector<std::string> types;  ///< the type in which kernels read it, and that in which a constant is stored
  std::string extents;
  std::int64_t outputs = 0;        ///< how often it is an output of the kernel
  std::vector<std::string> edges;  ///< "real f16", "inner f32"
};

DescribedValue describedValue(std::string_view description) {
  DescribedValue value;
  for (KeyFields fields(description); !fields.isAtEnd();) {
    KeyFields before = fields;
    const std::string field(fields.text());
    if (field == "output") {
      ++value.outputs;
    } else if (field == "real" || field == "inner") {
      value.edges.push_back(field + " " + std::string(fields.text()));
    } else if (dataTypeFromName(field)) {
      value.types.push_back(field);
    } else {
      value.extents += (value.extents.empty() ? "" : "x") + std::to_string(before.number<std::int64_t>());
    }
  }
  return value;
}

/// "LayerNormalization", "calculates in f32", "accumulates in f32", and the type of each node.
std::vector<std::string> contractItems(std::string_view context) {
  KeyFields fields(context);
  std::vector<std::string> items{std::string(fields.text())};
  items.push_back("calculates in " + std::string(fields.text()));
  items.push_back("accumulates in " + std::string(fields.text()));
  while (!fields.isAtEnd()) items.push_back("node in " + std::string(fields.text()));
  return items;
}

}  // namespace

std::optional<std::vector<RegionField>> regionFields(std::string_view region) {
  auto parts = structuralPartsOf(region);
  if (!parts) return std::nullopt;
  RegionField types{.name = "types"}, extents{.name = "extents"}, constants{.name = "constants"},
      written{.name = "written values"}, contract{.name = "contract", .items = contractItems(parts->context)};
  for (const StructuralParts::NamedValue& value : parts->values) {
    DescribedValue described = describedValue(value.description);
    if (value.isConstant) described.types.push_back(value.type);
    types.items.push_back(joined(described.types, " as "));
    extents.items.push_back(value.isConstant ? value.extents : described.extents);
    if (value.isConstant) constants.items.push_back(value.content);
    written.items.push_back(std::to_string(described.outputs));
    contract.items.push_back(joined(described.edges, " "));
  }
  return std::vector<RegionField>{{"operators", std::move(parts->operators)},
                                  {"attributes", std::move(parts->attributes)},
                                  {"wiring", std::move(parts->wiring)},
                                  std::move(types),
                                  std::move(extents),
                                  std::move(constants),
                                  std::move(written),
                                  std::move(contract)};
}

std::optional<TimeKeyFields> timeKeyFields(std::string_view key) {
  KeyFields fields(key);
  const std::string_view what = fields.text();
  const bool isTactic = what == kTacticTimeKey;
  if (!isTactic && what != kRegionTimeKey) return std::nullopt;
  TimeKeyFields read;
  read.fingerprint = fields.text();
  read.backend = fields.text();
  read.threads = fields.number<int>();
  read.region = fields.text();
  if (!isTactic) {
    read.workspaceBytes = fields.number<std::int64_t>();
  } else {
    read.tactic = fields.text();
    std::vector<std::string> formats;
    while (!fields.isAtEnd()) formats.emplace_back(fields.text());
    read.formats = joined(formats, " ");
  }
  return fields.isWhole() ? std::optional(std::move(read)) : std::nullopt;
}

std::string timesGroup(std::string_view key) {
  KeyFields fields(key);
  const std::string_view what = fields.text();
  const bool isConversion = what == kConversionTimeKey;
  if (!isConversion && what != kTacticTimeKey && what != kRegionTimeKey && what != kMixedTimeKey) return {};
  KeyBuilder group;
  group.text("fusescope.times.1");
  for (int i = 0; i < 3; ++i) group.text(fields.text());  // the fingerprint, the backend, the threads
  group.text(isConversion ? "conversions" : fields.text());
  return fields.isWhole() ? group.canonical() : std::string();
}

}  // namespace fusescope
