#include "planning/types/type_solver.h"

#include <algorithm>
#include <set>

#include "analysis/cost.h"
#include "analysis/set_groups.h"
#include "planning/directives/directive_form.h"

namespace fusescope {

TypeSolver::TypeSolver(const Model& model, const Target& target, const Structure& structure,
                       const DirectiveMap& directives, std::shared_ptr<const PlanOptions> options,
                       const PriceChoices& priced)
    : m_graph(*model.graph),
      m_structure(structure),
      m_directives(directives),
      m_given(std::move(options)),
      m_options(*m_given),
      m_chooser(m_graph, target, structure, m_options, priced.types),
      m_choices(m_graph.nodeIdLimit()),
      m_requiredInMemory(m_graph.valueIdLimit(), -1),
      m_outputObstacles(m_graph.valueIdLimit()),
      m_isSeparate(priced.isSeparate(m_graph.nodeIdLimit())),
      m_oneTypePerKernel(target.predictedFusions),
      m_typing([&] {
        for (const NodeId id : m_graph.order()) m_choices[id.index] = m_chooser.choose(id, directives.pin[id.index]);
        std::vector<DataType> pinned(m_graph.valueIdLimit(), DataType::Undefined);
        placeOutputs(pinned);
        return Typing(m_graph, structure, chosenTypes(), std::move(pinned));
      }()),
      m_describer(model, structure, m_typing) {
  for (std::uint32_t i = 0; i < structure.fusion.regions.size(); ++i) {
    const Region& region = structure.fusion.regions[i];
    if (const auto change = unquantised(region)) {
      const NodeId root = change->nodes.front().first;
      TypeChoice& choice = m_choices[root.index];
      const TypeChoice plain = m_chooser.chooseUnquantised(root);
      choice = choice.directive < 0 ? plain : TypeChoice{plain.type, choice.reason, choice.directive, choice.why};
      m_unquantised.insert(root);
      m_typing.apply(*change);
    }
    Fusion outcome;
    if (auto parts = partsOf(region, &outcome)) m_parts.emplace(i, std::move(*parts));
    append(m_refusals, std::move(outcome.refusals));
    m_conflicts.insert(m_conflicts.end(), outcome.conflicts.begin(), outcome.conflicts.end());
  }
}

std::vector<DataType> TypeSolver::chosenTypes() const {
  std::vector<DataType> types(m_graph.nodeIdLimit(), DataType::Undefined);
  for (const NodeId id : m_graph.order())
    if (const NodeFacts& facts = m_structure.facts[id.index]; facts.floats || facts.quantised)
      types[id.index] = m_choices[id.index].type;
  return types;
}

void TypeSolver::placeOutputs(std::vector<DataType>& pinned) {
  for (const ValueId value : m_graph.allValues()) {
    const int index = m_directives.outputType[value.index];
    if (index < 0) continue;
    const Directive& asked = m_options.directives[static_cast<std::size_t>(index)];
    m_outputObstacles[value.index] = m_chooser.outputObstacle(value, asked.type);
    pinned[value.index] = requestedOutputType(value, {}, m_requiredInMemory[value.index]);
  }
}

/// Returns the type to which `value` is pinned without the directives `without`. `requiredBy` gets the directive that
/// requires it to be in memory, or -1.
DataType TypeSolver::requestedOutputType(ValueId value, std::span<const int> without, int& requiredBy) const {
  requiredBy = -1;
  for (const int index : m_directives.outputTypesOf[value.index]) {
    if (std::ranges::find(without, index) != without.end()) continue;
    const Directive& asked = m_options.directives[static_cast<std::size_t>(index)];
    if (!m_chooser.outputObstacle(value, asked.type).empty()) return DataType::Undefined;
    if (asked.strictness == Strictness::Obey) requiredBy = index;
    return asked.type;
  }
  return DataType::Undefined;
}

/// Returns whether any directive could prevent the nodes of the region from running as one kernel.
bool TypeSolver::maySplit(const Region& region) const {
  if (region.nodes.size() < 2) return false;
  const auto typeOf = [&](NodeId node) { return typeToKernel(m_graph.node(node), m_typing.calculates(node)); };
  for (const NodeId node : region.oneType)
    if (typeOf(node) != typeOf(region.oneType.front())) return true;
  DataType one = DataType::Undefined;
  for (const NodeId id : region.nodes) {
    if (m_directives.split[id.index] >= 0 || (!m_isSeparate.empty() && m_isSeparate[id.index])) return true;
    for (const DirectiveMap::NoFuse& entry : m_directives.noFuse)
      if (entry.nodes[id.index]) return true;
    for (const ValueId value : m_graph.node(id).outputs)
      if (value.valid() && m_requiredInMemory[value.index] >= 0) return true;
    if (!m_oneTypePerKernel || typeOf(id) == DataType::Undefined) continue;
    if (one != DataType::Undefined && one != typeOf(id)) return true;
    one = typeOf(id);
  }
  return false;
}

/// Returns the parts of a region that cannot run as one kernel under the directives, or nothing if it can. `outcome`
/// gets the reasons.
std::optional<std::vector<Region>> TypeSolver::partsOf(const Region& region, Fusion* outcome) const {
  if (!maySplit(region)) return std::nullopt;
  const FusionLimits limits{.facts = &m_structure.facts,
                            .directives = &m_directives,
                            .list = &m_options.directives,
                            .requiredInMemory = &m_requiredInMemory,
                            .calculates = &m_typing.calculates(),
                            .separate = m_isSeparate.empty() ? nullptr : &m_isSeparate,
                            .oneTypePerKernel = m_oneTypePerKernel};
  Fusion fusion = fuseNodes(m_graph, m_structure.partition, region.nodes, limits);
  std::vector<Region> parts = std::move(fusion.regions);
  if (outcome != nullptr) *outcome = std::move(fusion);
  return parts.size() == 1 ? std::nullopt : std::optional(std::move(parts));
}

/// Returns the change if a quantised region is split: a product whose operands another kernel dequantises calculates in
/// floats.
std::optional<Typing::Change> TypeSolver::unquantised(const Region& region) const {
  const NodeId root = quantisedRoot(m_graph, region);
  if (!root.valid() || m_typing.calculates(root) != DataType::I8) return std::nullopt;
  const auto parts = partsOf(region);
  const bool still = !parts || std::ranges::any_of(*parts, [&](const Region& part) {
    return part.root == root && quantisedRoot(m_graph, part).valid();
  });
  if (still) return std::nullopt;
  return Typing::Change{.nodes = {{root, m_chooser.chooseUnquantised(root).type}}};
}

DataType TypeSolver::typeWithout(NodeId node, int directive) const {
  const auto& pins = m_directives.pinsOf[node.index];
  const auto next = std::ranges::find_if(pins, [&](int pin) { return pin != directive; });
  return m_chooser.choose(node, next == pins.end() ? -1 : *next).type;
}

std::vector<Region> TypeSolver::regions() {
  std::vector<Region> all;
  all.reserve(m_structure.fusion.regions.size());
  for (std::uint32_t i = 0; i < m_structure.fusion.regions.size(); ++i) {
    const auto parts = m_parts.find(i);
    if (parts == m_parts.end()) {
      all.push_back(m_structure.fusion.regions[i]);
    } else {
      all.insert(all.end(), parts->second.begin(), parts->second.end());
    }
  }
  return all;
}

/// Determines the plan without these directives. It changes only which values must be in memory; the caller changes the
/// types.
TypeSolver::Removal TypeSolver::remove(std::span<const int> directives) {
  const auto without = [&](int directive) { return std::ranges::find(directives, directive) != directives.end(); };
  Removal removal;
  for (const int index : directives) {
    for (const NodeId id : m_directives.nodesOf[static_cast<std::size_t>(index)]) {
      if (formOf(m_options.directives[static_cast<std::size_t>(index)]).asks == RequestedType::Calculated) {
        if (!without(m_directives.pin[id.index]) || !m_structure.facts[id.index].floats) continue;
        const auto& pins = m_directives.pinsOf[id.index];
        const auto next = std::ranges::find_if_not(pins, without);
        const DataType type = m_chooser.choose(id, next == pins.end() ? -1 : *next).type;
        if (type != m_typing.calculates(id)) removal.change.nodes.emplace_back(id, type);
        continue;
      }
      for (const ValueId value : m_graph.node(id).outputs) {
        if (!value.valid() || m_directives.outputType[value.index] != index) continue;
        int requiredBy = -1;
        removal.change.values.emplace_back(value, requestedOutputType(value, directives, requiredBy));
        removal.previouslyRequired.emplace_back(value, std::exchange(m_requiredInMemory[value.index], requiredBy));
      }
    }
  }
  requantise(removal);
  return removal;
}

/// Returns the regions whose nodes or results a change includes; it may split them or make them whole.
std::set<std::uint32_t> TypeSolver::changedRegions(const Typing::Change& change) const {
  std::set<std::uint32_t> regions;
  for (const auto& [node, type] : change.nodes) regions.insert(m_structure.regionOf[node.index]);
  for (const auto& [value, type] : change.values)
    regions.insert(m_structure.regionOf[m_graph.value(value).producer.index]);
  return regions;
}

/// A quantised region that was split may be whole without the directives that are removed.
void TypeSolver::requantise(Removal& removal) const {
  for (const std::uint32_t region : changedRegions(removal.change)) {
    const NodeId root = quantisedRoot(m_graph, m_structure.fusion.regions[region]);
    if (m_unquantised.contains(root)) removal.change.nodes.emplace_back(root, DataType::I8);
  }
}

/// Returns the regions that a change may split, and those that share values with them.
std::vector<std::uint32_t> TypeSolver::reached(const Typing::Change& change,
                                               const std::vector<ValueId>& retyped) const {
  std::set<std::uint32_t> near;
  const auto around = [&](ValueId value, std::set<std::uint32_t>& into) {
    const Value& about = m_graph.value(value);
    if (about.producer.valid()) into.insert(m_structure.regionOf[about.producer.index]);
    for (const NodeId user : about.consumers) into.insert(m_structure.regionOf[user.index]);
  };
  for (const auto& [node, type] : change.nodes) near.insert(m_structure.regionOf[node.index]);
  for (const auto& [value, type] : change.values) around(value, near);
  for (const ValueId value : retyped) around(value, near);
  std::set<std::uint32_t> all = near;
  for (const std::uint32_t region : near) {
    for (const NodeId id : m_structure.fusion.regions[region].nodes) {
      for (const ValueId value : m_graph.node(id).inputs)
        if (value.valid() && !m_graph.isConstant(value)) around(value, all);
      for (const ValueId value : m_graph.node(id).outputs)
        if (value.valid()) around(value, all);
    }
  }
  return {all.begin(), all.end()};
}

void TypeSolver::count(const Region& region, Totals& totals) {
  const FusedNode fused = m_describer.describe(region);
  const auto convert = [&](ValueId value, DataType from, DataType to, bool forOutput) {
    if (from == to || !totals.casts.emplace(value, to, forOutput).second) return;
    const auto moved = bytesOfConversion(*m_structure.usual, value, from, to);
    totals.bytes = sumOf(totals.bytes, moved);
    totals.castBytes = sumOf(totals.castBytes, moved);
  };
  ++totals.kernels;
  totals.bytes = sumOf(totals.bytes, fused.bytes);
  if (fused.nodes.size() > 1) {
    totals.merged.emplace_back();
    for (const NodeId node : fused.nodes) totals.merged.back().push_back(node.index);
  }
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    convert(fused.inputs[i], m_typing.stored(fused.inputs[i]), fused.reads[i], false);
  for (const FusedOutput& output : fused.outputs)
    if (m_graph.isOutput(output.value))
      convert(output.value, output.type, m_graph.value(output.value).type.dtype, true);
}

TypeSolver::Totals TypeSolver::evaluate(const std::vector<std::uint32_t>& regions) {
  Totals totals;
  for (const std::uint32_t index : regions) {
    const Region& region = m_structure.fusion.regions[index];
    if (const auto parts = partsOf(region)) {
      for (const Region& part : *parts) count(part, totals);
    } else {
      count(region, totals);
    }
  }
  return totals;
}

DirectiveCost TypeSolver::costOf(std::span<const int> directives) {
  const Removal removal = remove(directives);
  std::vector<Typing::Undo> undos{m_typing.apply(removal.change)};
  std::vector<ValueId> retyped = undos.front().retyped;
  for (const std::uint32_t region : changedRegions(removal.change)) {
    const auto change = unquantised(m_structure.fusion.regions[region]);
    if (!change) continue;
    undos.push_back(m_typing.apply(*change));
    retyped.insert(retyped.end(), undos.back().retyped.begin(), undos.back().retyped.end());
  }
  const std::vector<std::uint32_t> regions = reached(removal.change, retyped);
  const Totals without = evaluate(regions);
  for (auto undo = undos.rbegin(); undo != undos.rend(); ++undo) m_typing.apply(undo->change);
  for (const auto& [value, directive] : removal.previouslyRequired) m_requiredInMemory[value.index] = directive;
  const Totals with = evaluate(regions);

  DirectiveCost cost;
  for (const SetGroup& group : groupSets(without.merged, with.merged)) {
    if (group.same) continue;
    for (const std::uint32_t lost : group.a) {
      Region kernel;
      for (const std::uint32_t node : without.merged[lost]) kernel.nodes.emplace_back(node);
      cost.lostFusions.push_back(m_describer.nameOf(kernel));
    }
  }
  cost.kernels = with.kernels - without.kernels;
  cost.casts = static_cast<std::int64_t>(with.casts.size()) - static_cast<std::int64_t>(without.casts.size());
  cost.bytes = differenceOf(with.bytes, without.bytes);
  cost.castBytes = differenceOf(with.castBytes, without.castBytes);
  return cost;
}

}  // namespace fusescope
