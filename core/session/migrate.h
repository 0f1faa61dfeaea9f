#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "interchange/exports.h"
#include "interchange/recipes/recipe.h"
#include "session/session.h"

namespace fusescope {

/// A node whose type the recipe changes: what it calculates in by the file, and in the network that was written.
struct MigratedNode {
  std::string node;  ///< in a body "HOLDER/NODE"
  DataType from = DataType::Undefined, to = DataType::Undefined;
};

/// An old recipe for one model, written into the model: a strongly typed network.
struct Migration {
  std::string recipe;  ///< Recipe::kind
  std::vector<MigratedNode> changes;
  std::vector<UnmappedEntry> unmapped;  ///< what of the recipe does not hold, pins that the plan refuses among it
  std::vector<std::string> kept;        ///< Recipe::kept
  std::vector<std::string> warnings;
  std::int64_t edges = 0;  ///< Exported::edges
  std::optional<CheckedNumbers> numbers{};
  bool ok() const { return unmapped.empty(); }
};

/// The plan options that `recipe` asks for, beside those of `options`: the recipe says the types of all nodes, and the
/// pins of `options` stand beside its own; a --precision of `options` goes before the recipe's.
PlanOptions optionsOf(const Recipe& recipe, PlanOptions options);

/// What stands in a migration besides the file, of a plan that was made by optionsOf() and of what was exported of it.
Migration migrationOf(const Recipe& recipe, const Plan& plan, const Exported& exported);

/// {format, version, ok, recipe, path, changes[{node, from, to}], edges, unmapped[{entry, why}], kept[], warnings[],
/// checked: null or {max_over_rms, samples, allowed}}
Json toJson(const Migration& migration, const std::filesystem::path& path);

}  // namespace fusescope
