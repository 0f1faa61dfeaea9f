#include "planning/prices/predict_times.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "planning/prices/body_time.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

constexpr int kFirstWithTruePrices = 2;  // the version of a plan's JSON

class RecordedPrices final : public PriceModel {
 public:
  RecordedPrices(const Model& model, const Json& plan) {
    if (!plan.contains("version") || plan.at("version") < kFirstWithTruePrices) return;
    for (const std::string at : {kUsual, kLeast, kMost}) {
      for (const Json& fused : plan.at("fused_nodes"))
        if (const auto price = priceOf(fused, at)) m_kernels[{fused.value("identity", ""), at}] = *price;
      const ChosenExtents extents(model, choiceOf(at));
      for (const Json& cast : plan.at("casts")) {
        const auto from = dataTypeFromName(cast.at("from").get<std::string>());
        const auto to = dataTypeFromName(cast.at("to").get<std::string>());
        const auto value = model.graph->findValue(cast.at("value").get<std::string>());
        const auto count = value ? usualElements(extents, *value) : std::nullopt;
        const auto price = priceOf(cast, at);
        if (from && to && count && price) m_conversions[{*from, *to, *count}] = *price;
      }
    }
    const auto isTimed = [](const Json& fused) { return !fused.value("body_time", Json()).is_null(); };
    m_any = !m_kernels.empty() || !m_conversions.empty() || std::ranges::any_of(plan.at("fused_nodes"), isTimed);
  }
  bool any() const { return m_any; }

  std::vector<Price> kernels(const Plan& plan) const override { return recorded(plan, kUsual); }

  std::vector<Price> kernelsAt(const Plan& plan, const std::map<std::string, Dims>& extents) const override {
    return recorded(plan, plan.structure->most->ofInputs() == extents ? kMost : kLeast);
  }

  Price conversion(DataType from, DataType to, std::int64_t elements) const override {
    const auto found = m_conversions.find({from, to, elements});
    return found == m_conversions.end() ? Price() : found->second;
  }

 private:
  /// The suffixes of "predicted_ms" in the keys of a price.
  static constexpr const char *kUsual = "", *kLeast = "_least", *kMost = "_most";

  static ChosenExtents::Choice choiceOf(const std::string& at) {
    using Choice = ChosenExtents::Choice;
    return at == kLeast ? Choice::Least : at == kMost ? Choice::Most : Choice::Usual;
  }

  std::vector<Price> recorded(const Plan& plan, const std::string& at) const {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes) {
      const auto found = m_kernels.find({fused.identity.hex(), at});
      const bool runs = !isFloat(fused.compute) || fused.compute == DataType::F64 || plan.inFallback(fused) ||
                        plan.target.hardwareTypes.contains(fused.compute);
      prices.push_back(found != m_kernels.end() && runs ? found->second : Price());
    }
    return prices;
  }

  static std::optional<Price> priceOf(const Json& entry, const std::string& at) {
    const Json ms = entry.value("predicted_ms" + at, Json());
    // For ranges, a plan contains only times. Their source is that of the usual time; otherwise they are fitted.
    const Json how = entry.value("predicted_how", Json());
    if (!ms.is_number()) return std::nullopt;
    if (at != kUsual) return Price{.ms = ms.get<double>(), .how = PriceSource::Fitted};
    if (!how.is_string()) return std::nullopt;
    const auto source = priceSourceFromName(how.get<std::string>());
    if (!source || *source == PriceSource::Unknown) return std::nullopt;
    const Json spread = entry.value("predicted_spread", Json());
    return Price{.ms = ms.get<double>(), .how = *source, .spread = spread.is_number() ? spread.get<double>() : 0};
  }

  bool m_any = false;
  std::map<std::pair<std::string, std::string>, Price> m_kernels;  ///< by identity in hex digits, and where
  std::map<std::tuple<DataType, DataType, std::int64_t>, Price> m_conversions;
};

}  // namespace

std::optional<std::int64_t> usualElements(const ChosenExtents& extents, ValueId value) {
  const auto dims = extents.of(value);
  return dims ? elementCount(*dims) : std::nullopt;
}

namespace {

/// Predicts times at other extents of the inputs than the usual ones.
void predictTimesAt(Plan& plan, const PriceModel& prices, const ChosenExtents& extents, CostAt CostRange::*at) {
  const auto inputs = extents.ofInputs();
  if (!inputs) return;
  const std::vector<Price> kernels = prices.kernelsAt(plan, *inputs);
  for (FusedNode& fused : plan.fusedNodes)
    if (fused.range) ((*fused.range).*at).ms = kernels[fused.id.index].ms;
  for (PlannedCast& cast : plan.casts) {
    const auto count = usualElements(extents, cast.value);
    if (cast.range && count) ((*cast.range).*at).ms = prices.conversion(cast.from, cast.to, *count).ms;
  }
}

}  // namespace

void predictTimes(Plan& plan, const PriceModel* prices) {
  if (prices == nullptr) return;
  double sum = 0;
  bool all = !plan.fusedNodes.empty();
  const auto add = [&](const Price& price, auto& priced) {
    priced.predictedMs = price.ms;
    priced.predictedHow = price.ms ? price.how : PriceSource::Unknown;
    priced.predictedSpread = price.ms ? price.spread : 0;
    all = all && price.ms.has_value();
    sum += price.ms.value_or(0);
  };
  const std::vector<Price> kernels = prices->kernels(plan);
  for (FusedNode& fused : plan.fusedNodes) {
    fused.bodyTime = bodyTimeOf(plan, fused);
    add(runsByBodies(plan, fused) ? priceOf(fused.bodyTime) : kernels[fused.id.index], fused);
  }
  for (PlannedCast& cast : plan.casts) {
    const auto count = usualElements(*plan.structure->usual, cast.value);
    add(count ? prices->conversion(cast.from, cast.to, *count) : Price(), cast);
  }
  if (all) plan.predictedMs = sum;
  if (plan.structure->least == nullptr) return;
  predictTimesAt(plan, *prices, *plan.structure->least, &CostRange::least);
  predictTimesAt(plan, *prices, *plan.structure->most, &CostRange::most);
}

std::unique_ptr<PriceModel> recordedPrices(const Model& model, const Json& plan) {
  auto prices = std::make_unique<RecordedPrices>(model, plan);
  return prices->any() ? std::move(prices) : nullptr;
}

}  // namespace fusescope
