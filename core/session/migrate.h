#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "interchange/exports.h"
#include "interchange/recipes/recipe.h"
#include "session/artifact.h"

namespace fusescope {

/// A node whose type the recipe changes: the type in which it calculates in the file, and in the network that was
/// written.
struct MigratedNode {
  std::string node;  ///< for a node in a body "HOLDER/NODE"
  DataType from = DataType::Undefined, to = DataType::Undefined;
};

/// The result of writing an old recipe for a model into the model, which becomes a strongly typed network.
struct Migration {
  std::string recipe;  ///< Recipe::kind
  std::vector<MigratedNode> changes;
  std::vector<UnmappedEntry> unmapped;  ///< entries of the recipe that are not satisfied, including pins that the plan
                                        ///< refuses
  std::vector<std::string> kept;        ///< Recipe::kept
  std::vector<std::string> warnings;
  std::int64_t edges = 0;  ///< Exported::edges
  std::optional<CheckedNumbers> numbers{};
  bool ok() const { return unmapped.empty(); }
};

/// Returns the plan options that `recipe` asks for in addition to `options`. The recipe determines the types of all
/// nodes, and pins of `options` are added to its own; a --precision and ranges in `options` replace those of the
/// recipe.
PlanOptions optionsOf(const Recipe& recipe, PlanOptions options);

/// Returns the report of a migration for a plan that was made with optionsOf(), and for its export.
Migration migrationOf(const Recipe& recipe, const Plan& plan, const Exported& exported);

/// Returns {format, version, ok, recipe, path, changes[{node, from, to}], edges, unmapped[{entry, why}], kept[],
/// warnings[], checked: null or {max_over_rms, samples, allowed}}.
Json toJson(const Migration& migration, const std::filesystem::path& path);

}  // namespace fusescope
