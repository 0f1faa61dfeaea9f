#include "planning/price_types.h"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/min_cut.h"
#include "planning/predict_times.h"
#include "planning/structure.h"
#include "planning/type_answers.h"

namespace fusescope {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Chooses between f32 and one other type for every kernel of a plan. The label 1 is the other type.
class PairChoice {
 public:
  PairChoice(const Plan& wide, const Plan& narrow, DataType type, const PriceModel& prices)
      : m_wide(wide), m_narrow(narrow), m_type(type), m_prices(prices) {}

  /// Whether prices tell the two types of a kernel apart.
  bool compares(FusedNodeId fused) const { return m_kernelMs[fused.index][0] && m_kernelMs[fused.index][1]; }

  /// By fused node of the wide plan. `total`: what the choice costs; nothing if no price is known.
  std::vector<char> run(std::optional<double>& total) {
    addKernels();
    if (!m_anyKnown) return {};
    for (const ValueId value : m_wide.graph().allValues()) addValue(value);
    std::vector<char> labels = m_cut.solve();
    labels.resize(m_wide.fusedNodes.size());
    total = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (const auto& ms = m_kernelMs[i][static_cast<std::size_t>(labels[i])]) *total += *ms;
    return labels;
  }

 private:
  static bool lowered(const Plan& plan, const FusedNode& fused, DataType type) {
    return std::ranges::any_of(fused.nodes, [&](NodeId id) { return plan.calculates[id.index] == type; });
  }

  /// The kernel of the narrow plan of the same nodes; null if types took it apart there.
  const FusedNode* twin(const FusedNode& fused) const {
    const FusedNode* other = m_narrow.fusedNodeOf(fused.root);
    return other != nullptr && other->nodes == fused.nodes ? other : nullptr;
  }

  void addKernels() {
    const std::vector<Price> wide = m_prices.kernels(m_wide), narrow = m_prices.kernels(m_narrow);
    for (const FusedNode& fused : m_wide.fusedNodes) {
      m_cut.add();
      const FusedNode* other = twin(fused);
      const bool chooses = other != nullptr && lowered(m_narrow, *other, m_type) && !lowered(m_wide, fused, m_type);
      const bool moves = other != nullptr && std::ranges::all_of(fused.nodes, [&](NodeId id) {
                           return m_wide.structure->facts[id.index].moves && m_wide.structure->accelerated[id.index];
                         });
      const std::optional<double> zero = wide[fused.id.index].ms;
      const std::optional<double> one = other == nullptr ? std::nullopt : narrow[other->id.index].ms;
      m_kernelMs.push_back({zero, one});
      m_anyKnown = m_anyKnown || (chooses && (zero || one));
      if (lowered(m_wide, fused, m_type)) {
        m_cut.addCosts(fused.id.index, kNever, 0);  // pinned to it
      } else if (!chooses && !moves) {
        m_cut.addCosts(fused.id.index, 0, kNever);
      } else if (zero || one) {
        m_cut.addCosts(fused.id.index, zero.value_or(kNever), one.value_or(kNever));
      }
    }
  }

  double conversion(ValueId value, DataType from, DataType to) {
    const auto count = usualElements(*m_wide.structure->usual, value);
    const Price price = count ? m_prices.conversion(from, to, *count) : Price();
    // Of unknown price: none is worth it, whatever a kernel gains.
    return price.ms.value_or(1e6);
  }

  /// A value is stored at label 0 or 1; a producer of label 1 has no more to store than that. Each reader of the other
  /// label converts. Inputs and outputs of the network are f32.
  void addValue(ValueId value) {
    const Value& about = m_wide.graph().value(value);
    if (about.type.dtype != DataType::F32 || m_wide.graph().isConstant(value)) return;
    const FusedNode* producer = about.producer.valid() ? m_wide.fusedNodeOf(about.producer) : nullptr;
    std::vector<std::uint32_t> readers;
    for (const NodeId user : about.consumers) {
      const FusedNodeId fused = m_wide.fusedNodeOf(user)->id;
      if (producer == nullptr || fused != producer->id) readers.push_back(fused.index);
    }
    std::ranges::sort(readers);
    readers.erase(std::ranges::unique(readers).begin(), readers.end());
    if (readers.empty() && !m_wide.graph().isOutput(value)) return;
    const std::size_t stored = m_cut.add();
    if (producer == nullptr) {
      m_cut.addCosts(stored, 0, kNever);
    } else {
      m_cut.addCost(stored, producer->id.index, kNever);
    }
    const double widening = conversion(value, m_type, DataType::F32),
                 narrowing = conversion(value, DataType::F32, m_type);
    for (const std::uint32_t reader : readers) {
      m_cut.addCost(reader, stored, widening);
      m_cut.addCost(stored, reader, narrowing);
    }
    if (m_wide.graph().isOutput(value)) m_cut.addCosts(stored, 0, widening);
  }

  const Plan& m_wide;
  const Plan& m_narrow;
  DataType m_type;
  const PriceModel& m_prices;
  MinCut m_cut;
  std::vector<std::array<std::optional<double>, 2>> m_kernelMs;
  bool m_anyKnown = false;
};

}  // namespace

Result<PricedTypes> typesByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                 const PriceModel* prices, std::shared_ptr<const Structure> structure,
                                 const StopToken& stop) {
  PricedTypes chosen;
  if (prices == nullptr || options.precisions.size() < 2) return chosen;
  const auto alone = [&](DataType type) {
    PlanOptions only = options;
    only.precisions = {type};
    return layOut(model, only, {}, structure, stop);
  };
  const Layout wide = TRY(alone(DataType::F32));
  std::optional<double> best;
  int others = 0;
  for (const DataType type : options.precisions) {
    if (type == DataType::F32 || !wide.plan.target.computeTypes.contains(type)) continue;
    ++others;
    const Layout narrow = TRY(alone(type));
    std::optional<double> total;
    PairChoice choice(wide.plan, narrow.plan, type, *prices);
    const std::vector<char> labels = choice.run(total);
    if (!total || (best && *best <= *total)) continue;
    best = total;
    chosen.types.assign(model->graph->nodeIdLimit(), DataType::Undefined);
    for (const FusedNode& fused : wide.plan.fusedNodes) {
      const bool lowered = labels[fused.id.index] != 0;
      if (!lowered && !choice.compares(fused.id)) continue;
      for (const NodeId id : fused.nodes) chosen.types[id.index] = lowered ? type : DataType::F32;
    }
  }
  if (others > 1 && best)
    chosen.decisions.push_back(decide("precision.search_bounded", {}, "price_model", {{"types", others + 1}}));
  return chosen;
}

}  // namespace fusescope
