#include "planning/types/price_integers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "analysis/min_cut.h"
#include "planning/prices/predict_times.h"
#include "planning/prices/price_model.h"
#include "planning/quantized_model.h"
#include "planning/structure.h"
#include "planning/types/price_types.h"
#include "planning/types/type_answers.h"

namespace fusescope {

namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// Chooses between floats (label 0) and integers (label 1) for each kernel of the plan in floats.
class IntegerChoice {
 public:
  IntegerChoice(const Plan& floats, const Plan& integers, const PriceModel& prices)
      : m_floats(floats), m_integers(integers), m_prices(prices), m_integerPrices(prices.kernels(integers)) {
    for (const FusedNode& fused : integers.fusedNodes)
      for (const ValueId input : fused.inputs) m_readers[input].push_back(fused.id);
  }

  PricedIntegers run() {
    addKernels();
    for (const NodeId id : m_integers.graph().order())
      if (isNew(id) && m_integers.graph().node(id).is("QuantizeLinear")) addCodes(m_integers.graph().node(id));
    const std::vector<char> labels = m_cut.solve();
    PricedIntegers chosen;
    for (const FusedNode& fused : m_floats.fusedNodes) {
      const auto& [zero, one] = m_ms[fused.id.index];
      const bool known = zero && one;  // otherwise the rules decide, whatever the cut found for the kernels around it
      for (const NodeId id : fused.nodes)
        if (multipliesIntegers(id)) chosen[id] = {!known || labels[fused.id.index] != 0, one, zero};
    }
    return chosen;
  }

 private:
  bool isNew(NodeId id) const { return id.index >= m_floats.graph().nodeIdLimit(); }
  bool multipliesIntegers(NodeId id) const {
    return m_integers.graph().has(id) && m_integers.calculates[id.index] == DataType::I8;
  }

  /// Returns the kernel of the plan with integers that has the same nodes, apart from those that quantise; null if
  /// there is none.
  const FusedNode* twin(const FusedNode& fused) const {
    if (!m_integers.graph().has(fused.root)) return nullptr;
    const FusedNode* other = m_integers.fusedNodeOf(fused.root);
    if (other == nullptr) return nullptr;
    std::vector<NodeId> nodes = other->nodes;
    std::erase_if(nodes, [&](NodeId id) { return isNew(id); });
    return nodes == fused.nodes ? other : nullptr;
  }

  bool movesCodes(const FusedNode& fused) const {
    return std::ranges::any_of(fused.reads, isByteInteger) ||
           std::ranges::any_of(fused.outputs, isByteInteger, &FusedOutput::type);
  }

  void addKernels() {
    const std::vector<Price> floats = m_prices.kernels(m_floats);
    for (const FusedNode& fused : m_floats.fusedNodes) {
      const std::size_t thing = m_cut.add();
      const FusedNode* other = twin(fused);
      const std::optional<double> zero = floats[fused.id.index].ms;
      const std::optional<double> one = other == nullptr ? std::nullopt : m_integerPrices[other->id.index].ms;
      m_ms.push_back({zero, one});
      if (other != nullptr) m_of[other->id] = thing;
      const bool multiplies = std::ranges::any_of(fused.nodes, [&](NodeId id) { return multipliesIntegers(id); });
      if (multiplies && !(zero && one)) {
        m_cut.addCosts(thing, kImpossible, 0);  // decided by the rules
      } else if (multiplies || (other != nullptr && movesCodes(*other))) {
        if (zero && one) m_cut.addCosts(thing, *zero, *one);
      } else {
        m_cut.addCosts(thing, 0, kImpossible);
      }
    }
  }

  /// An edge has codes (label 1) if a kernel of integers reads it. They cost a kernel that makes them, or nothing if
  /// the kernel that calculates the numbers writes codes.
  void addCodes(const Node& quantizer) {
    const FusedNode& maker = *m_integers.fusedNodeOf(quantizer.id);
    const std::size_t codes = m_cut.add();
    for (const FusedNodeId reader : m_readers[quantizer.outputs[0]])
      if (const auto thing = m_of.find(reader); thing != m_of.end() && reader != maker.id)
        m_cut.addCost(codes, thing->second, kImpossible);
    const auto producer = m_of.find(maker.id);
    if (producer != m_of.end()) {
      m_cut.addCost(producer->second, codes, conversion(quantizer));
    } else {
      m_cut.addCosts(codes, 0, m_integerPrices[maker.id.index].ms.value_or(conversion(quantizer)));
    }
  }

  /// If the price is unknown, it is so high that no kernel outweighs it.
  double conversion(const Node& quantizer) const {
    const DataType type = m_integers.graph().value(quantizer.outputs[0]).type.dtype;
    const auto count = usualElements(*m_integers.structure->usual, quantizer.outputs[0]);
    return (count ? m_prices.conversion(DataType::F32, type, *count) : Price()).ms.value_or(kImpossible);
  }

  const Plan& m_floats;
  const Plan& m_integers;
  const PriceModel& m_prices;
  const std::vector<Price> m_integerPrices;  ///< of m_integers
  std::map<ValueId, std::vector<FusedNodeId>> m_readers;
  MinCut m_cut;
  std::vector<std::array<std::optional<double>, 2>> m_ms;  ///< by kernel of the plan in floats
  std::map<FusedNodeId, std::size_t> m_of;                 ///< kernels of the plan with integers
};

Result<Layout> pricedLayout(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                            const PriceModel& prices, const StopToken& stop) {
  return layOut(model, options, TRY(typesByPrice(model, options, &prices, nullptr, stop)), nullptr, stop);
}

}  // namespace

Result<PricedIntegers> integersByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                       const PriceModel* prices, const StopToken& stop) {
  const auto& asked = options.precisions;
  const bool several = asked.size() > 1 && std::ranges::find(asked, DataType::I8) != asked.end();
  if (prices == nullptr || !several || options.ranges == nullptr) return PricedIntegers();
  PlanOptions floats = options;
  floats.precisions = floatPrecisions(options);
  floats.ranges.reset();
  const Layout without = TRY(pricedLayout(model, floats, *prices, stop));
  const Layout with = TRY(pricedLayout(TRY(quantizedModel(model, options, nullptr, stop)), options, *prices, stop));
  return IntegerChoice(without.plan, with.plan, *prices).run();
}

}  // namespace fusescope
