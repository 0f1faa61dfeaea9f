#include "planning/read_back/read_back_builder.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/users.h"
#include "base/sort_distinct.h"
#include "ir/graph.h"
#include "planning/identities.h"
#include "planning/read_back/compare_prediction.h"
#include "planning/read_back/read_back_check.h"
#include "planning/read_back/read_back_steps.h"

namespace fusescope {

ReadBackBuilder::ReadBackBuilder(std::shared_ptr<const Plan> asked, const ReadBack& readBack)
    : m_asked(*asked),
      m_graph(asked->graph()),
      m_readBack(readBack),
      m_made(std::make_shared<ReadBackPlan>()),
      m_holders(m_graph.nodeIdLimit()),
      m_madeBy(m_graph.nodeIdLimit(), kNoKernel),
      m_isWritten(m_graph.valueIdLimit(), false),
      m_position(m_graph.nodeIdLimit(), 0),
      m_insideOf(m_graph.nodeIdLimit(), 0),
      m_oursNow(asked->fusedNodes.size()) {
  static_cast<Cover&>(*m_made) = m_asked;
  m_made->source = CoverSource::ReadBack;
  m_made->fusedNodes.clear();
  m_made->bodies.clear();
  m_made->casts.clear();
  m_made->predictedMs.reset();
  m_made->compiler = readBack.compiler;
  m_made->conversions = readBack.conversions;
  m_made->placement = readBack.placement;
  m_made->hindrances = readBack.hindrances;
  m_made->requested = std::move(asked);
  for (std::size_t i = 0; i < m_graph.order().size(); ++i) m_position[m_graph.order()[i].index] = i;
  std::vector<SegmentId> compiled;
  for (Segment& segment : m_made->segments) {
    if (segment.kind == SegmentKind::Accelerated) compiled.push_back(segment.id);
    if (segment.kind == SegmentKind::Fallback) segment.backend = kOwnCompiler;  // whichever kernels it has
  }
  if (compiled.size() == 1) m_onlySegment = compiled.front();
  for (const ReadBackKernel& kernel : m_readBack.kernels)
    if (!isAsPlanned(kernel)) m_news.push_back(&kernel);
}

std::shared_ptr<const ReadBackPlan> ReadBackBuilder::run() {
  for (const ReadBackKernel* kernel : m_news) takeNodes(*kernel);
  const auto isReported = [&](NodeId node) { return !m_holders[node.index].empty(); };
  for (const FusedNode& fused : m_asked.fusedNodes)
    if (m_asked.inFallback(fused) && std::ranges::none_of(fused.nodes, isReported)) takeOurs(fused);
  findEnclosed();
  for (std::uint32_t i = 0; i < m_news.size(); ++i) takeValues(i);
  for (std::uint32_t i = 0; i < m_news.size(); ++i) noteWritten(i);
  for (std::uint32_t i = 0; i < m_news.size(); ++i) takeInnerEdges(i);
  order();
  identify();
  storeTypes();
  typeValues();
  moveCasts();
  setFates();
  grantTypes();
  setSupport();
  m_made->pins = pinsOf(*m_made, m_readBack);
  m_made->agreement = agreementOf(m_asked, *m_made);
  m_made->decisions.insert(m_made->decisions.end(), m_readBack.decisions.begin(), m_readBack.decisions.end());
  append(m_made->decisions, pinDecisions(*m_made, m_readBack.pins));
  append(m_made->decisions, directiveDecisions(*m_made));
  return std::move(m_made);
}

/// Returns whether a kernel of our own engine is one of the plan, about which the plan contains more than is reported.
bool ReadBackBuilder::isAsPlanned(const ReadBackKernel& kernel) const {
  if (!kernel.isOurs || kernel.nodes.empty()) return false;
  const FusedNode& planned = *m_asked.fusedNodeOf(kernel.nodes.front().first);
  return std::ranges::is_permutation(planned.nodes, kernel.nodes, {}, {}, &std::pair<NodeId, Certainty>::first);
}

void ReadBackBuilder::takeNodes(const ReadBackKernel& reported) {
  const auto kernel = static_cast<std::uint32_t>(m_kernels.size());
  FusedNode& fused = m_kernels.emplace_back();
  ReadBackPlan::Kernel& details = m_details.emplace_back();
  fused.name = reported.name;
  fused.kind = reported.kind;
  fused.compute = reported.compute;
  details.region = reported.region;
  details.once = reported.once;
  details.converts = reported.converts;
  details.ms = reported.ms;
  details.isOurs = reported.isOurs;
  details.optimiser = reported.optimiser;
  auto nodes = reported.nodes;
  std::ranges::sort(nodes, {}, [&](const auto& held) { return m_position[held.first.index]; });
  for (const auto& [node, certainty] : nodes) {
    fused.nodes.push_back(node);
    details.certainty.push_back(certainty);
    m_holders[node.index].push_back(kernel);
    const auto& origins = m_graph.node(node).origins;
    fused.origins.insert(fused.origins.end(), origins.begin(), origins.end());
  }
  sortDistinct(fused.origins);
  fused.root = rootOf(fused);
  fused.segment = segmentOf(fused);
  details.inputs = reported.inputs;
  details.outputs = reported.outputs;
  noteWritten(kernel);
}

void ReadBackBuilder::takeOurs(const FusedNode& fused) {
  ReadBackPlan::Kernel details{.certainty = std::vector(fused.nodes.size(), Certainty::Named), .isOurs = true};
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    details.inputs.push_back({.value = fused.inputs[i], .type = fused.reads[i], .format = {}});
  for (const FusedOutput& output : fused.outputs)
    details.outputs.push_back({.value = output.value, .type = output.type, .format = {}});
  for (const NodeId node : fused.nodes) m_holders[node.index].push_back(static_cast<std::uint32_t>(m_kernels.size()));
  m_kernels.push_back(fused);
  m_details.push_back(std::move(details));
}

/// Returns the node that determines the kind, if one does by our own rules; otherwise the last node.
NodeId ReadBackBuilder::rootOf(const FusedNode& fused) const {
  for (const NodeId node : fused.nodes) {
    const FusedNode& planned = *m_asked.fusedNodeOf(node);
    if (planned.root == node && planned.kind == fused.kind) return node;
  }
  return fused.nodes.empty() ? NodeId() : fused.nodes.back();
}

/// Returns the segment of a kernel. A kernel without nodes is in the only segment that was compiled, if there is just
/// one.
SegmentId ReadBackBuilder::segmentOf(const FusedNode& fused) const {
  if (fused.nodes.empty()) return m_onlySegment;
  const SegmentId first = m_asked.fusedNodeOf(fused.nodes.front())->segment;
  const auto isThere = [&](NodeId node) { return m_asked.fusedNodeOf(node)->segment == first; };
  return std::ranges::all_of(fused.nodes, isThere) ? first : SegmentId();
}

/// Records, of what a kernel writes, what it also computes.
void ReadBackBuilder::noteWritten(std::uint32_t kernel) {
  for (const KernelValue& output : m_details[kernel].outputs) {
    const NodeId producer = output.value.valid() ? m_graph.value(output.value).producer : NodeId();
    if (producer.valid() && std::ranges::binary_search(m_holders[producer.index], kernel))
      m_isWritten[output.value.index] = true;
  }
}

/// A node without a kernel, such as a view, is inside a kernel if it reads only results of this kernel and only this
/// kernel reads its result.
void ReadBackBuilder::findEnclosed() {
  m_enclosed.resize(m_kernels.size());
  for (const NodeId node : m_graph.order()) m_madeBy[node.index] = makerOf(node);
  std::vector<std::uint32_t> within(m_graph.nodeIdLimit(), kNoKernel);
  for (auto at = m_graph.order().rbegin(); at != m_graph.order().rend(); ++at) {
    const NodeId node = *at;
    const std::uint32_t maker = m_madeBy[node.index];
    if (!m_holders[node.index].empty() || maker == kNoKernel) continue;
    const auto isThere = [&](NodeId user) {
      return within[user.index] == maker || std::ranges::binary_search(m_holders[user.index], maker);
    };
    const auto staysInside = [&](ValueId value) {
      return !value.valid() ||
             (!m_graph.isOutput(value) && std::ranges::all_of(m_graph.value(value).consumers, isThere));
    };
    if (!std::ranges::all_of(m_graph.node(node).outputs, staysInside)) continue;
    within[node.index] = maker;
    m_enclosed[maker].push_back(node);
  }
}

/// Returns the only kernel that contains a node or, for a node without a kernel, the only one that makes everything
/// that it reads.
std::uint32_t ReadBackBuilder::makerOf(NodeId node) const {
  const auto& holders = m_holders[node.index];
  if (!holders.empty()) return holders.size() == 1 ? holders.front() : kNoKernel;
  std::optional<std::uint32_t> only;
  for (const ValueId value : valuesRead(m_graph.node(node))) {
    const NodeId producer = m_graph.value(value).producer;
    if (m_graph.isConstant(value)) continue;
    const std::uint32_t maker = producer.valid() ? m_madeBy[producer.index] : kNoKernel;
    if (maker == kNoKernel || only.value_or(maker) != maker) return kNoKernel;
    only = maker;
  }
  return only.value_or(kNoKernel);
}

void ReadBackBuilder::enter(std::uint32_t kernel) {
  ++m_mark;
  for (const auto* nodes : {&m_kernels[kernel].nodes, &m_enclosed[kernel]})
    for (const NodeId node : *nodes) m_insideOf[node.index] = m_mark;
}

bool ReadBackBuilder::isUsedInside(ValueId value) const {
  return std::ranges::any_of(m_graph.value(value).consumers, [&](NodeId user) { return isInside(user); });
}

bool ReadBackBuilder::isUsedOutside(ValueId value) const {
  return m_graph.isOutput(value) ||
         std::ranges::any_of(m_graph.value(value).consumers, [&](NodeId user) { return !isInside(user); });
}

/// Determines what a kernel reads and writes. Values that are not reported are derived from the graph: what the kernel
/// reads, if some or all of it is not reported, and what others use of its results, if no kernel is reported to write
/// it.
void ReadBackBuilder::takeValues(std::uint32_t kernel) {
  enter(kernel);
  FusedNode& fused = m_kernels[kernel];
  ReadBackPlan::Kernel& details = m_details[kernel];
  const auto isKnown = [](const KernelValue& value) { return value.value.valid(); };
  if (details.inputs.empty() || !std::ranges::all_of(details.inputs, isKnown)) deriveInputs(kernel);
  deriveOutputs(kernel);
  std::unordered_set<ValueId> reads, writes;
  for (const KernelValue& input : details.inputs)
    if (isKnown(input) && !m_graph.isConstant(input.value) && reads.insert(input.value).second)
      fused.inputs.push_back(input.value);
  for (const KernelValue& output : details.outputs)
    if (isKnown(output) && writes.insert(output.value).second) fused.outputs.push_back({.value = output.value});
}

/// Values that a kernel makes only for itself are inner, unless it or another kernel that makes them writes them.
void ReadBackBuilder::takeInnerEdges(std::uint32_t kernel) {
  enter(kernel);
  FusedNode& fused = m_kernels[kernel];
  std::unordered_set<ValueId> writes;
  for (const FusedOutput& output : fused.outputs) writes.insert(output.value);
  for (const ValueId value : resultsOf(fused))
    if (isUsedInside(value) && (writes.contains(value) || !m_isWritten[value.index]))
      fused.innerEdges.push_back({.value = value, .real = writes.contains(value)});
}

std::vector<ValueId> ReadBackBuilder::resultsOf(const FusedNode& fused) const {
  std::vector<ValueId> results;
  for (const NodeId node : fused.nodes)
    std::ranges::copy_if(m_graph.node(node).outputs, std::back_inserter(results),
                         [](ValueId value) { return value.valid(); });
  return results;
}

/// Derives outputs: what other kernels use of a kernel's results and no kernel is reported to write. If there is
/// exactly one such value, of a node in no other kernel, and exactly one output is reported without a value, they are
/// the same if the types allow it. An example is a product whose result gets its extents in another kernel.
void ReadBackBuilder::deriveOutputs(std::uint32_t kernel) {
  std::vector<KernelValue>& outputs = m_details[kernel].outputs;
  std::vector<ValueId> used;
  for (const ValueId value : resultsOf(m_kernels[kernel]))
    if (!m_isWritten[value.index] && isUsedOutside(value)) used.push_back(value);
  const auto isNameless = [](const KernelValue& output) { return !output.value.valid(); };
  if (used.size() == 1 && std::ranges::count_if(outputs, isNameless) == 1) {
    const Value& value = m_graph.value(used.front());
    KernelValue& nameless = *std::ranges::find_if(outputs, isNameless);
    const bool isSole = m_holders[value.producer.index].size() == 1;
    if (isSole && (nameless.type == value.type.dtype || (isFloat(nameless.type) && isFloat(value.type.dtype)))) {
      nameless.value = value.id;
      return;
    }
  }
  for (const ValueId value : used) outputs.push_back({.value = value, .type = DataType::Undefined, .format = {}});
}

void ReadBackBuilder::deriveInputs(std::uint32_t kernel) {
  std::vector<KernelValue>& inputs = m_details[kernel].inputs;
  std::unordered_set<ValueId> known;
  for (const KernelValue& input : inputs) known.insert(input.value);
  for (const NodeId node : m_kernels[kernel].nodes)
    for (const ValueId value : valuesRead(m_graph.node(node))) {
      const NodeId producer = m_graph.value(value).producer;
      const bool isMadeHere = producer.valid() && (isInside(producer) || m_madeBy[producer.index] == kernel);
      if (!isMadeHere && !m_graph.isConstant(value) && known.insert(value).second)
        inputs.push_back({.value = value, .type = DataType::Undefined, .format = {}});
    }
}

void ReadBackBuilder::order() {
  std::vector<FusedNodeId> now(m_kernels.size());
  for (const std::uint32_t i : runOrder(m_graph, m_kernels, m_holders)) {
    now[i] = FusedNodeId(m_made->fusedNodes.size());
    if (m_details[i].isOurs)
      for (const NodeId node : m_kernels[i].nodes) m_oursNow[m_asked.fusedNodeOf(node)->id.index] = now[i];
    m_kernels[i].id = now[i];
    m_made->fusedNodes.push_back(std::move(m_kernels[i]));
    m_made->kernels.push_back(std::move(m_details[i]));
  }
  m_made->kernelsOfNode.resize(m_graph.nodeIdLimit());
  m_made->fusedOfNode.assign(m_graph.nodeIdLimit(), FusedNodeId());
  for (const NodeId node : m_graph.order()) {
    std::vector<FusedNodeId>& holders = m_made->kernelsOfNode[node.index];
    for (const std::uint32_t i : m_holders[node.index]) holders.push_back(now[i]);
    std::ranges::sort(holders);
    if (!holders.empty()) m_made->fusedOfNode[node.index] = holders.front();
  }
}

/// A kernel with the same nodes as one of ours gets its identity. Kernels without nodes are identified by their
/// compiler and name; if several are equal, the number of those before it is included.
void ReadBackBuilder::identify() {
  const Identities identities(*m_made->model);
  std::map<Hash128, std::uint32_t> known;
  for (FusedNode& fused : m_made->fusedNodes) {
    if (fused.identity != Hash128()) continue;  // as planned
    fused.identity = fused.nodes.empty() ? KeyBuilder().text(m_readBack.compiler.name).text(fused.name).hash()
                                         : identities.of(fused.nodes, fused.origins);
    if (const std::uint32_t before = known[fused.identity]++; before > 0)
      fused.identity = KeyBuilder().text(fused.identity.hex()).number(before).hash();
  }
}

/// Keeps the casts that our own engine makes, for its own kernels or for outputs of the network, with the types that
/// values have now.
void ReadBackBuilder::moveCasts() {
  for (PlannedCast cast : m_asked.casts) {
    const bool isForOutput = cast.consumers.empty();
    std::erase_if(cast.consumers, [&](FusedNodeId id) { return !m_oursNow[id.index].valid(); });
    if (m_made->storedType(cast.value) != cast.from || (!isForOutput && cast.consumers.empty())) continue;
    for (FusedNodeId& consumer : cast.consumers) consumer = m_oursNow[consumer.index];
    const NodeId producer = m_graph.value(cast.value).producer;
    cast.producer = producer.valid() ? m_made->fusedOfNode[producer.index] : FusedNodeId();
    m_made->casts.push_back(std::move(cast));
  }
}

/// Whether a node has a kernel, or runs here, is determined from the kernels, whatever is reported.
void ReadBackBuilder::setFates() {
  m_made->fates.assign(m_graph.nodeIdLimit(), Fate::NotDisclosed);
  for (const auto& [node, fate] : m_readBack.fates)
    if (fate != Fate::Kernel && fate != Fate::Fallback) m_made->fates[node.index] = fate;
  for (const NodeId node : m_graph.order()) {
    if (!m_made->kernelsOf(node).empty()) m_made->fates[node.index] = Fate::Kernel;
    if (isOurs(node)) m_made->fates[node.index] = Fate::Fallback;
  }
}

void ReadBackBuilder::grantTypes() {
  for (PrecisionGrant& grant : m_made->precisionMap) {
    if (isOurs(grant.node)) continue;
    grant.granted = grantOf(grant.node, grant.granted);
    DataType& calculates = m_made->calculates[grant.node.index];
    if (calculates != DataType::Undefined) calculates = grant.granted;
  }
}

/// Returns the type in which its first kernel calculates; a node that moves elements has the type of its result.
DataType ReadBackBuilder::grantOf(NodeId node, DataType planned) const {
  if (m_asked.calculates[node.index] == DataType::Undefined) {
    const auto& outputs = m_graph.node(node).outputs;
    const auto result = std::ranges::find_if(outputs, [](ValueId value) { return value.valid(); });
    return result == outputs.end() ? planned : m_made->storedType(*result);
  }
  const FusedNode* kernel = m_made->fusedNodeOf(node);
  return kernel == nullptr ? DataType::Undefined : kernel->compute;
}

void ReadBackBuilder::setSupport() {
  std::unordered_map<std::string_view, const NodeSupport*> supports;
  if (m_asked.options.support != nullptr)
    for (const NodeSupport& support : m_asked.options.support->nodes) supports.emplace(support.node, &support);
  for (const NodeId node : m_graph.order()) {
    const std::string& name = m_graph.node(node).name;
    const auto found = supports.find(name);
    m_made->support.push_back(found == supports.end() ? NodeSupport{.node = name, .isAccepted = {}} : *found->second);
  }
}

Result<std::shared_ptr<const ReadBackPlan>> readBackPlan(std::shared_ptr<const Plan> asked, const ReadBack& readBack) {
  TRY(checkReadBack(*asked, readBack));
  return ReadBackBuilder(std::move(asked), readBack).run();
}

}  // namespace fusescope
