#include "engine/specialised_engine.h"

#include <set>
#include <system_error>

#include "backends/threads.h"
#include "base/json.h"
#include "engine/built_engine.h"
#include "engine/program/extent_check.h"
#include "passes/pipelines.h"
#include "planning/plan_json.h"

namespace fusescope {
namespace {

/// Returns the stored types of the values that a plan writes to memory, by name.
std::map<std::string_view, DataType> storedByName(const Plan& plan) {
  std::map<std::string_view, DataType> stored;
  for (const FusedNode& fused : plan.fusedNodes)
    for (const FusedOutput& output : fused.outputs)
      stored.emplace(plan.graph().value(output.value).name, plan.storedType(output.value));
  return stored;
}

/// Returns the addresses of the data of a network's constants.
std::set<const std::byte*> constantsOf(const Graph& graph) {
  std::set<const std::byte*> addresses;
  for (const ValueId id : graph.allValues())
    if (const auto& constant = graph.value(id).constant) addresses.insert(constant->bytes());
  return addresses;
}

/// Returns the bytes of the constants that the network has in addition to `known`, the constants of another network;
/// these were folded.
std::int64_t foldedBytes(const Graph& graph, const std::set<const std::byte*>& known) {
  std::int64_t bytes = 0;
  for (const ValueId id : graph.allValues()) {
    const auto& constant = graph.value(id).constant;
    if (constant && constant->hasData() && !known.contains(constant->bytes()))
      bytes += static_cast<std::int64_t>(constant->byteSize());
  }
  return bytes;
}

}  // namespace

std::optional<ContractDifference> differenceInContract(const Plan& general, const Plan& specialised) {
  for (const NodeId id : specialised.graph().order()) {
    const auto other = general.graph().findNode(specialised.graph().node(id).name);
    if (!other) continue;
    const DataType before = general.calculates[other->index], now = specialised.calculates[id.index];
    if (before != now) return ContractDifference{"node '" + specialised.graph().node(id).name + "'", before, now};
  }
  const auto stored = storedByName(general);
  for (const auto& [name, type] : storedByName(specialised)) {
    const auto before = stored.find(name);
    if (before != stored.end() && before->second != type)
      return ContractDifference{"value '" + std::string(name) + "'", before->second, type};
  }
  for (const CoverBody& body : specialised.bodies) {
    const auto holder = general.graph().findNode(specialised.graph().node(body.holder).name);
    const Plan* const before = holder ? general.bodyPlan(*holder, body.attribute) : nullptr;
    if (before == nullptr) continue;
    if (auto difference = differenceInContract(*before, plannedBody(body))) return difference;
  }
  return std::nullopt;
}

Result<std::shared_ptr<const Plan>> specialisedPlan(const Plan& general, const std::map<std::string, Dims>& extents,
                                                    const StopToken& stop) {
  Model fixed = TRY(withFixedInputs(*general.model, extents, stop));
  fixed.inputsFitted = true;  // all extents are fixed, so that none has to be assumed
  auto folded = std::make_shared<const Model>(TRY(prepareModel(std::move(fixed), stop)));
  return remakePlan(std::move(folded), toJson(general));
}

Result<Specialise> specialiserOf(const Engine& general, const BuildOptions& options) {
  const auto* const built = dynamic_cast<const BuiltEngine*>(&general);
  if (built == nullptr)
    return Diagnostic{.message = "only an engine of our own compiler can have specialised engines",
                      .help = "Leave --compiler or --specialise out."};
  BuildOptions own = options;
  own.backend = general.backend();
  own.threads = general.threads();
  own.shapeCache = 1;
  own.measureTactics = true;
  own.progress = {};
  auto plan = std::static_pointer_cast<const Plan>(general.made());
  // Weights that the general engine has packed are kept as long as other engines may share them.
  return Specialise(
      [plan, own, weights = built->weights(), known = constantsOf(plan->graph())](
          const std::map<std::string, Dims>& extents, const StopToken& stop) -> Result<SpecialisedEngine> {
        auto specialised = TRY(specialisedPlan(*plan, extents, stop));
        if (auto difference = differenceInContract(*plan, *specialised)) {
          SpecialisedEngine none;
          none.difference = std::move(difference);
          return none;
        }
        const std::int64_t folded = foldedBytes(specialised->graph(), known);
        BuildOptions fixed = own;
        fixed.shapes = extents;
        fixed.stop = stop;
        auto engine = TRY(BuiltEngine::build(std::move(specialised), fixed, {}, Measuring::Briefly));
        SpecialisedEngine made;
        made.bytes = folded + engine->report().arenaBytes + bytesOf(engine->weights(), weights);
        made.engine = std::move(engine);
        return made;
      });
}

Result<std::unique_ptr<BackgroundBuild>> BackgroundBuild::start(Specialise specialise,
                                                                std::map<std::string, Dims> extents) {
  std::unique_ptr<BackgroundBuild> build(new BackgroundBuild(std::move(extents)));
  try {
    build->m_thread = std::jthread([build = build.get(), specialise = std::move(specialise)](const StopToken& stop) {
      yieldToOtherThreads();
      try {
        build->m_result.emplace(specialise(build->m_extents, stop));
      } catch (const std::exception& error) {
        build->m_result.emplace(Diagnostic{.message = error.what()});
      }
      build->m_isOver.store(true);
    });
  } catch (const std::system_error& error) {
    return Diagnostic{.message = std::string("no thread can be started: ") + error.what()};
  }
  return build;
}

Result<SpecialisedEngine> BackgroundBuild::take() {
  m_thread.join();
  return std::move(*m_result);
}

}  // namespace fusescope
