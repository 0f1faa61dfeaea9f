#include "planning/types/price_types.h"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/min_cut.h"
#include "base/sort_distinct.h"
#include "planning/prices/predict_times.h"
#include "planning/prices/price_model.h"
#include "planning/structure.h"
#include "planning/types/type_answers.h"

namespace fusescope {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// By fused node of the plan in f32.
using KernelTypes = std::vector<DataType>;

/// Chooses between f32 and one other type for every kernel of a plan that has one of them in `now`; other kernels keep
/// their type. The label 1 is the other type.
class PairChoice {
 public:
  PairChoice(const Plan& wide, const Plan& narrow, DataType type, const PriceModel& prices, const KernelTypes& now)
      : m_wide(wide), m_narrow(narrow), m_type(type), m_prices(prices), m_now(now) {}

  /// Returns whether both types of a kernel have a known price.
  bool compares(FusedNodeId fused) const { return m_kernelMs[fused.index][0] && m_kernelMs[fused.index][1]; }

  /// `total` gets the time of the kernels with the result; it is nothing if no price is known, and nothing is chosen
  /// then.
  KernelTypes run(std::optional<double>& total) {
    addKernels();
    if (!m_anyKnown) return m_now;
    for (const ValueId value : m_wide.graph().allValues()) addValue(value);
    const std::vector<char> labels = m_cut.solve();
    KernelTypes types = m_now;
    total = 0;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (keeps(FusedNodeId(i))) continue;
      types[i] = labels[i] != 0 ? m_type : DataType::F32;
      if (const auto& ms = m_kernelMs[i][static_cast<std::size_t>(labels[i])]) *total += *ms;
    }
    return types;
  }

 private:
  bool keeps(FusedNodeId fused) const { return m_now[fused.index] != DataType::F32 && m_now[fused.index] != m_type; }
  static bool lowered(const Plan& plan, const FusedNode& fused, DataType type) {
    return std::ranges::any_of(fused.nodes, [&](NodeId id) { return plan.calculates[id.index] == type; });
  }

  /// Returns the kernel of the narrow plan with the same nodes; null if types split it there.
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
      if (keeps(fused.id)) continue;
      if (lowered(m_wide, fused, m_type)) {
        m_cut.addCosts(fused.id.index, kNever, 0);  // pinned to this type
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
    // If the price is unknown, it is so high that no gain of a kernel outweighs it.
    return price.ms.value_or(1e6);
  }

  /// A value is stored at label 0 or 1; a producer with label 1 cannot store it at label 0. Each reader with the other
  /// label converts. Inputs and outputs of the network are f32.
  void addValue(ValueId value) {
    const Value& about = m_wide.graph().value(value);
    if (about.type.dtype != DataType::F32 || m_wide.graph().isConstant(value)) return;
    const FusedNode* producer = about.producer.valid() ? m_wide.fusedNodeOf(about.producer) : nullptr;
    const std::vector<FusedNodeId> readers = readersOf(about, producer);
    if (producer != nullptr && keeps(producer->id)) return addReadersOfKept(value, m_now[producer->id.index], readers);
    if (readers.empty() && !m_wide.graph().isOutput(value)) return;
    const std::size_t stored = m_cut.add();
    if (producer == nullptr) {
      m_cut.addCosts(stored, 0, kNever);
    } else {
      m_cut.addCost(stored, producer->id.index, kNever);
    }
    const double widening = conversion(value, m_type, DataType::F32),
                 narrowing = conversion(value, DataType::F32, m_type);
    for (const FusedNodeId reader : readers) {
      if (keeps(reader)) {
        const DataType type = m_now[reader.index];
        m_cut.addCosts(stored, conversion(value, DataType::F32, type), conversion(value, m_type, type));
        continue;
      }
      m_cut.addCost(reader.index, stored, widening);
      m_cut.addCost(stored, reader.index, narrowing);
    }
    if (m_wide.graph().isOutput(value)) m_cut.addCosts(stored, 0, widening);
  }

  /// Returns the kernels other than `producer` that read a value.
  std::vector<FusedNodeId> readersOf(const Value& about, const FusedNode* producer) const {
    std::vector<FusedNodeId> readers;
    for (const NodeId user : about.consumers) {
      const FusedNodeId fused = m_wide.fusedNodeOf(user)->id;
      if (producer == nullptr || fused != producer->id) readers.push_back(fused);
    }
    sortDistinct(readers);
    return readers;
  }

  /// Adds the readers of a value that a kernel with a fixed type stores in that type.
  void addReadersOfKept(ValueId value, DataType stored, const std::vector<FusedNodeId>& readers) {
    for (const FusedNodeId reader : readers)
      if (!keeps(reader))
        m_cut.addCosts(reader.index, conversion(value, stored, DataType::F32), conversion(value, stored, m_type));
  }

  const Plan& m_wide;
  const Plan& m_narrow;
  DataType m_type;
  const PriceModel& m_prices;
  const KernelTypes& m_now;
  MinCut m_cut;
  std::vector<std::array<std::optional<double>, 2>> m_kernelMs;
  bool m_anyKnown = false;
};

/// A type besides f32, and the plan that uses it wherever possible.
struct Alternative {
  DataType type;
  Layout layout;
};

/// Limits the rounds over all alternatives, which are repeated while one of them changes something. A round never makes
/// the sum larger.
constexpr int kMostRounds = 8;

/// Returns the cheapest choice: first the best single alternative, then each of the others in turn against f32 where it
/// is used. Empty if no price is known.
KernelTypes cheapest(const Plan& wide, const std::vector<Alternative>& others, const PriceModel& prices,
                     std::vector<char>& compared) {
  const KernelTypes start(wide.fusedNodes.size(), DataType::F32);
  KernelTypes best;
  std::optional<double> least;
  compared.assign(start.size(), 0);
  for (const Alternative& other : others) {
    std::optional<double> total;
    PairChoice choice(wide, other.layout.plan, other.type, prices, start);
    KernelTypes types = choice.run(total);
    if (!total) continue;
    for (std::size_t i = 0; i < start.size(); ++i) compared[i] |= static_cast<char>(choice.compares(FusedNodeId(i)));
    if (least && *least <= *total) continue;
    least = total;
    best = std::move(types);
  }
  bool changes = least && others.size() > 1;
  for (int round = 0; changes && round < kMostRounds; ++round) {
    changes = false;
    for (const Alternative& other : others) {
      std::optional<double> total;
      KernelTypes types = PairChoice(wide, other.layout.plan, other.type, prices, best).run(total);
      changes = changes || types != best;
      best = std::move(types);
    }
  }
  return best;
}

}  // namespace

Result<PriceChoices> typesByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                  const PriceModel* prices, std::shared_ptr<const Structure> structure,
                                  const StopToken& stop) {
  PriceChoices chosen;
  if (prices == nullptr || floatPrecisions(options).size() < 2) return chosen;
  const auto alone = [&](DataType type) {
    PlanOptions only = options;
    only.precisions = {type};
    return layOut(model, only, {}, structure, stop);
  };
  const Layout wide = TRY(alone(DataType::F32));
  structure = wide.plan.structure;  // it is the same for every choice of types
  std::vector<Alternative> others;
  for (const DataType type : floatPrecisions(options))
    if (type != DataType::F32 && wide.plan.target.computeTypes.contains(type))
      others.push_back({type, TRY(alone(type))});
  std::vector<char> compared;
  const KernelTypes types = cheapest(wide.plan, others, *prices, compared);
  if (types.empty()) return chosen;
  chosen.types.assign(model->graph->nodeIdLimit(), DataType::Undefined);
  for (const FusedNode& fused : wide.plan.fusedNodes) {
    const DataType type = types[fused.id.index];
    if (type == DataType::F32 && !compared[fused.id.index]) continue;
    for (const NodeId id : fused.nodes) chosen.types[id.index] = type;
  }
  if (others.size() > 1) chosen.typesWeighed = others.size() + 1;
  return chosen;
}

}  // namespace fusescope
