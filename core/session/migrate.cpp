#include "session/migrate.h"

#include <algorithm>

#include "interchange/export_notes.h"
#include "planning/structure.h"
#include "planning/types/pin_answers.h"

namespace fusescope {
namespace {

/// Adds the nodes of a plan and of its bodies that calculate in another type than in the file.
void addChanges(const Plan& plan, const BodyPath& path, std::vector<MigratedNode>& changes) {
  const Graph& own = *unquantized(plan.model)->graph;
  for (const NodeId id : plan.graph().order()) {
    const Node& node = plan.graph().node(id);
    const NodeFacts& facts = plan.structure->facts[id.index];
    const DataType to = plan.calculates[id.index];
    if (!facts.floats || facts.moves || !own.findNode(node.name)) continue;
    const DataType from = facts.natural == DataType::I8 ? DataType::F32 : facts.natural;
    if (to != DataType::Undefined && from != to) changes.push_back({path.of(node.name), from, to});
  }
  for (const CoverBody& body : plan.bodies)
    addChanges(plannedBody(body), path.into(plan.graph().node(body.holder), body.attribute), changes);
}

}  // namespace

PlanOptions optionsOf(const Recipe& recipe, PlanOptions options) {
  const std::vector<DataType> precisions = options.precisions;
  const Directives given = options.directives;
  std::shared_ptr<const Ranges> ranges = options.ranges;
  options.directives.clear();
  adopt(recipe, options);
  if (!precisions.empty()) options.precisions = precisions;
  if (ranges != nullptr) options.ranges = std::move(ranges);
  for (Directive directive : given) {
    directive.id.clear();
    options.directives.push_back(std::move(directive));
  }
  assignIds(options.directives);
  return options;
}

Migration migrationOf(const Recipe& recipe, const Plan& plan, const Exported& exported) {
  Migration migration{.recipe = recipe.kind, .unmapped = recipe.unmapped, .kept = recipe.kept};
  addChanges(plan, {}, migration.changes);
  for (const ExportNote& note : pinsNotHonoured(plan))
    migration.unmapped.push_back({"a type that the plan does not have", note.text});
  for (const ExportNote& note : exported.notes) {
    const bool isSaid =
        std::ranges::any_of(migration.unmapped, [&](const UnmappedEntry& entry) { return entry.why == note.text; });
    if (!isSaid) migration.warnings.push_back(note.text);
  }
  migration.edges = exported.edges;
  migration.numbers = exported.numbers;
  return migration;
}

Json toJson(const Migration& migration, const std::filesystem::path& path) {
  Json changes = Json::array(), unmapped = Json::array();
  for (const MigratedNode& change : migration.changes)
    changes.push_back({{"node", change.node}, {"from", name(change.from)}, {"to", name(change.to)}});
  for (const UnmappedEntry& entry : migration.unmapped) unmapped.push_back(toJson(entry));
  Json checked;
  if (migration.numbers)
    checked = {{"max_over_rms", jsonNumber(migration.numbers->onReference.worst)},
               {"samples", migration.numbers->samples},
               {"allowed", migration.numbers->tolerance.rms ? Json(*migration.numbers->tolerance.rms) : Json()}};
  return {{"format", "fusescope.migration"},
          {"version", 1},
          {"ok", migration.ok()},
          {"recipe", migration.recipe},
          {"path", path.string()},
          {"changes", std::move(changes)},
          {"edges", migration.edges},
          {"unmapped", std::move(unmapped)},
          {"kept", migration.kept},
          {"warnings", migration.warnings},
          {"checked", std::move(checked)}};
}

}  // namespace fusescope
