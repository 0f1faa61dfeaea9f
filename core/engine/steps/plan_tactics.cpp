#include "engine/steps/plan_tactics.h"

#include <algorithm>

#include "engine/kernels/plan_backend.h"
#include "engine/program/boxed_values.h"
#include "engine/steps/body_lowering.h"
#include "engine/steps/region_measuring.h"
#include "engine/tactics/format_planner.h"
#include "engine/tactics/worth_measuring.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostForms = 32;  // the most forms of one value that the planner can handle
constexpr int kMostFormatPasses = 8;    // the most times that regions are measured for their formats
// The least gain, as a multiple of the noise, for which a region is measured.
constexpr double kLeastGainOfRegion = 0.25;

class TacticPlanner {
 public:
  TacticPlanner(const TacticPlanRequest& request, TacticChooser& chooser)
      : m_request(request), m_plan(*request.plan), m_graph(request.plan->graph()), m_chooser(chooser) {}

  Result<std::map<FusedNodeId, PlannedTactic>> run() {
    for (const ValueId input : m_graph.inputs()) addGiven(input);
    for (const FusedNode& fused : m_plan.fusedNodes) TRY(addFusedNode(fused));
    addOutputs();
    RegionMeasuring measuring(m_request, m_planned, m_chooser);
    TRY(measuring.measure());
    TRY(measureForFormats(measuring));
    TRY(measuring.measureAgain());
    measuring.countRegions();
    countWays();
    if (hasChoices()) choose();
    return std::move(m_planned);
  }

 private:
  /// A value with the forms in which kernels may write or read it.
  struct PlannedValue {
    std::vector<TensorDesc> forms;
    std::vector<MemoryFormat> homes;  ///< the formats besides plain in which its producer may write it
  };

  bool isBoxed(ValueId value) const { return fusescope::isBoxed(m_graph, m_request.requests->types(), value); }

  /// Returns the planner's number of a value.
  std::size_t indexOf(ValueId value) {
    const auto [entry, isNew] = m_indices.try_emplace(value, m_values.size());
    if (isNew) {
      m_values.emplace_back();
      m_problem.givenForms.push_back(0);
    }
    return entry->second;
  }

  std::size_t formOf(ValueId value, DataType type, const Dims& dims, const MemoryFormat& format) {
    std::vector<TensorDesc>& forms = m_values[indexOf(value)].forms;
    const TensorDesc wanted{type, dims, format};
    const auto place = static_cast<std::size_t>(std::ranges::find(forms, wanted) - forms.begin());
    if (place == forms.size()) forms.push_back(wanted);
    return place;
  }

  void addGiven(ValueId value) {
    const auto dims = m_request.requests->dimsOf(value);
    if (isBoxed(value) || !dims.ok()) return;
    const std::size_t form = formOf(value, m_graph.value(value).type.dtype, dims.value(), MemoryFormat());
    m_problem.givenForms[indexOf(value)] = form;
  }

  /// Adds a step that reads and writes plain tensors, whatever kernel runs it.
  void addPlain(const std::vector<std::pair<ValueId, DataType>>& reads, const FusedNode* fused) {
    FormatProblem::Node node{.ways = {{}}};
    for (const auto& [value, type] : reads) {
      const auto dims = m_request.requests->dimsOf(value);
      if (isBoxed(value) || !dims.ok()) continue;
      node.ways[0].reads.push_back(formOf(value, type, dims.value(), MemoryFormat()));
      node.inputs.push_back(indexOf(value));
    }
    if (fused != nullptr) {
      for (const FusedOutput& output : fused->outputs) {
        const auto dims = m_request.requests->dimsOf(output.value);
        if (isBoxed(output.value) || !dims.ok()) continue;
        node.ways[0].writes.push_back(formOf(output.value, output.type, dims.value(), MemoryFormat()));
        node.outputs.push_back(indexOf(output.value));
      }
    }
    m_problem.nodes.push_back(std::move(node));
    m_fusedOf.push_back(FusedNodeId());
  }

  Status addFusedNode(const FusedNode& fused) {
    TRY(checkStop(m_request.stop));
    std::vector<std::pair<ValueId, DataType>> reads;
    for (const ValueId input : fused.inputs) reads.emplace_back(input, m_request.requests->wantedType(fused, input));
    if (hasPlannedBodies(m_plan, fused) || whyDynamic(m_graph, m_request.requests->types(), fused)) {
      addPlain(reads, &fused);
      return Done{};
    }
    if (const auto view = m_request.requests->view(fused)) {
      addPlain({{view->source, fused.outputs.front().type}}, &fused);
      return Done{};
    }
    if (m_request.progress) m_request.progress("kernels", fused.name);
    return addKernel(fused);
  }

  Status addKernel(const FusedNode& fused) {
    PlannedTactic planned{.request = TRY(m_request.requests->of(fused))};
    for (const ValueId input : fused.inputs)
      for (const MemoryFormat& format : m_values[indexOf(input)].homes) addOnce(planned.request.formats, format);
    planned.ways = TRY(m_chooser.ways(backendOf(planned), planned.request));
    FormatProblem::Node node;
    for (const ValueId input : fused.inputs) node.inputs.push_back(indexOf(input));
    for (const FusedOutput& output : fused.outputs) node.outputs.push_back(indexOf(output.value));
    std::vector<std::size_t>& tactics = m_tacticOfWay[fused.id];
    for (std::size_t i = 0; i < planned.ways.tactics.size(); ++i) {
      const bool isOpen = std::ranges::find(planned.ways.open, i) != planned.ways.open.end();
      if (!planned.ways.costs[i] && !planned.ways.times[i] && !isOpen) continue;
      auto way = wayOf(planned, i);
      if (!way) continue;
      node.ways.push_back(std::move(*way));
      tactics.push_back(i);
    }
    if (tactics.empty())
      return Diagnostic{.message = "an input or output would need too many forms", .where = {.node = fused.name}};
    planned.way = tactics.front();
    m_problem.nodes.push_back(std::move(node));
    m_fusedOf.push_back(fused.id);
    m_planned.emplace(fused.id, std::move(planned));
    return Done{};
  }

  /// Measures regions that were left because their kernels could save little, but whose formats may save conversions
  /// that matter.
  Status measureForFormats(RegionMeasuring& measuring) {
    m_problem.values = m_values.size();
    for (int i = 0; i < kMostFormatPasses && m_chooser.weighsConversions(); ++i) {
      const auto partly = partlyMeasured(measuring);
      if (!partly) break;
      const WorthMeasuring worth = worthMeasuring(*partly);
      if (worth.nodes.empty() || m_chooser.effort().isBelowNoise(worth.savedMs, worth.ms)) break;
      std::vector<FusedNodeId> nodes;
      for (const std::size_t node : worth.nodes) nodes.push_back(m_fusedOf[node]);
      TRY(measuring.measureLeft(nodes));
    }
    return Done{};
  }

  /// Returns the problem in which regions that were left have all their ways, as if each were nearly as fast as
  /// the first; nothing if none was left for the reason that it could save little.
  std::optional<PartlyMeasuredProblem> partlyMeasured(const RegionMeasuring& measuring) {
    PartlyMeasuredProblem partly{.problem = m_problem};
    const double leastGainMs = kLeastGainOfRegion * m_chooser.effort().noise() * measuring.networkMs();
    bool isAny = false;
    for (std::size_t i = 0; i < m_problem.nodes.size(); ++i) {
      std::vector<bool>& isAssumed = partly.isAssumed.emplace_back(m_problem.nodes[i].ways.size(), false);
      if (!m_fusedOf[i].valid()) continue;
      const TacticWays& region = m_planned.at(m_fusedOf[i]).ways;
      isAssumed = assume(partly.problem.nodes[i].ways, region, m_tacticOfWay.at(m_fusedOf[i]),
                         leastGainMs / static_cast<double>(measuring.countOf(region)));
      isAny = isAny || std::ranges::count(isAssumed, true) > 0;
    }
    if (!isAny) return std::nullopt;
    const auto priced = [this](bool measures) {
      return [this, measures](std::size_t value, std::size_t from, std::size_t to) {
        const std::vector<TensorDesc>& forms = m_values[value].forms;
        const Backend& backend = acceleratedBackendOf(m_plan);
        return measures ? m_chooser.conversionMs(backend, forms[from], forms[to])
                        : m_chooser.leastConversionMs(backend, forms[from], forms[to]);
      };
    };
    partly.problem.conversionMs = priced(true);
    partly.leastConversionMs = priced(false);
    return partly;
  }

  /// Gives the ways of a node their costs, assumed ones too if its region was left, and removes the ways without a
  /// cost. Returns which costs are assumed: these are higher by `moreMs`. `tactics` has the tactic of each way.
  static std::vector<bool> assume(std::vector<FormatProblem::Way>& ways, const TacticWays& region,
                                  const std::vector<std::size_t>& tactics, double moreMs) {
    auto costs = region.costs;
    if (region.left == LeftUnmeasured::BelowNoise) costs = assumedCosts(region.tactics, region.times, std::move(costs));
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (costs[i] && !region.costs[i]) costs[i]->ms += moreMs;
    std::vector<bool> isAssumed;
    for (const std::size_t tactic : keepCounted(ways, costs, tactics)) isAssumed.push_back(!region.costs[tactic]);
    return isAssumed;
  }

  /// Gives the ways their costs, and removes the ways without a cost. Returns the tactics of those that remain.
  static std::vector<std::size_t> keepCounted(std::vector<FormatProblem::Way>& ways,
                                              const std::vector<std::optional<TacticCost>>& costs,
                                              const std::vector<std::size_t>& tactics) {
    std::vector<FormatProblem::Way> counted;
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < tactics.size(); ++k) {
      const auto& cost = costs[tactics[k]];
      if (!cost) continue;
      counted.push_back(std::move(ways[k]));
      counted.back().ms = cost->ms;
      counted.back().place = cost->place;
      kept.push_back(tactics[k]);
    }
    ways = std::move(counted);
    return kept;
  }

  void countWays() {
    for (std::size_t i = 0; i < m_problem.nodes.size(); ++i) {
      if (!m_fusedOf[i].valid()) continue;
      PlannedTactic& planned = m_planned.at(m_fusedOf[i]);
      std::vector<std::size_t>& tactics = m_tacticOfWay.at(m_fusedOf[i]);
      tactics = keepCounted(m_problem.nodes[i].ways, planned.ways.costs, tactics);
      planned.way = tactics.front();
    }
  }

  const Backend& backendOf(const PlannedTactic& planned) const {
    return fusescope::backendOf(m_plan, *planned.request.fused);
  }

  /// Returns nullopt if a value would have more forms than the planner can handle; this cannot happen for plain forms.
  std::optional<FormatProblem::Way> wayOf(const PlannedTactic& planned, std::size_t i) {
    const FusedNode& fused = *planned.request.fused;
    const Tactic& tactic = planned.ways.tactics[i];
    FormatProblem::Way way;
    for (std::size_t k = 0; k < fused.inputs.size(); ++k) {
      const TensorDesc& desc = planned.request.values.at(fused.inputs[k]);
      way.reads.push_back(formOf(fused.inputs[k], desc.dtype, desc.dims, tactic.inputs[k]));
      if (way.reads.back() >= kMostForms) return std::nullopt;
    }
    for (std::size_t k = 0; k < fused.outputs.size(); ++k) {
      const ValueId value = fused.outputs[k].value;
      const TensorDesc& desc = planned.request.values.at(value);
      way.writes.push_back(formOf(value, desc.dtype, desc.dims, tactic.outputs[k]));
      if (!tactic.outputs[k].isPlain()) addOnce(m_values[indexOf(value)].homes, tactic.outputs[k]);
    }
    way.format = numberOf(formatOf(tactic));
    return way;
  }

  /// Returns the format in which a tactic works: the first of its outputs' formats that is not plain, otherwise the
  /// first such format of its inputs.
  static MemoryFormat formatOf(const Tactic& tactic) {
    for (const auto* formats : {&tactic.outputs, &tactic.inputs})
      for (const MemoryFormat& format : *formats)
        if (!format.isPlain()) return format;
    return {};
  }

  std::size_t numberOf(const MemoryFormat& format) {
    addOnce(m_formats, format);
    return static_cast<std::size_t>(std::ranges::find(m_formats, format) - m_formats.begin());
  }

  static void addOnce(std::vector<MemoryFormat>& formats, const MemoryFormat& format) {
    if (std::ranges::find(formats, format) == formats.end()) formats.push_back(format);
  }

  void addOutputs() {
    std::vector<std::pair<ValueId, DataType>> reads;
    for (const HandedOut& output : m_request.outputs)
      if (m_indices.contains(output.value)) reads.emplace_back(output.value, output.type);
    addPlain(reads, nullptr);
  }

  bool hasChoices() const {
    return std::ranges::any_of(m_problem.nodes, [](const FormatProblem::Node& node) { return node.ways.size() > 1; });
  }

  /// Returns for each value whether its form depends on a choice. Other values need no measurement.
  std::vector<bool> openValues() const {
    std::vector<bool> open(m_values.size(), false);
    for (const FormatProblem::Node& node : m_problem.nodes) {
      if (node.ways.size() == 1) continue;
      for (const std::size_t value : node.inputs) open[value] = true;
      for (const std::size_t value : node.outputs) open[value] = true;
    }
    return open;
  }

  void choose() {
    m_problem.values = m_values.size();
    const std::vector<bool> open = openValues();
    m_problem.conversionMs = [&](std::size_t value, std::size_t from, std::size_t to) {
      if (!open[value]) return 0.0;
      const std::vector<TensorDesc>& forms = m_values[value].forms;
      return m_chooser.conversionMs(acceleratedBackendOf(m_plan), forms[from], forms[to]);
    };
    const double loss = m_chooser.mostLoss();
    const FormatPlan plan = loss > 0 ? planFormatsStably(m_problem, loss) : planFormats(m_problem);
    for (std::size_t node = 0; node < m_problem.nodes.size(); ++node) {
      const FusedNodeId fused = m_fusedOf[node];
      if (fused.valid()) m_planned.at(fused).way = m_tacticOfWay.at(fused)[plan.ways[node]];
    }
  }

  const TacticPlanRequest& m_request;
  const Plan& m_plan;
  const Graph& m_graph;
  TacticChooser& m_chooser;
  FormatProblem m_problem;
  std::vector<MemoryFormat> m_formats;  ///< indexed by the numbers of formats in ways
  std::vector<FusedNodeId> m_fusedOf;   ///< by node; invalid if nothing is chosen for it
  std::map<FusedNodeId, std::vector<std::size_t>> m_tacticOfWay;
  std::map<ValueId, std::size_t> m_indices;
  std::vector<PlannedValue> m_values;
  std::map<FusedNodeId, PlannedTactic> m_planned;
};

}  // namespace

Result<std::map<FusedNodeId, PlannedTactic>> planTactics(const TacticPlanRequest& request, TacticChooser& chooser) {
  return TacticPlanner(request, chooser).run();
}

}  // namespace fusescope
