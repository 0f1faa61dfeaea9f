#include "session/engine_prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/hash.h"
#include "base/json_fields.h"
#include "cache/timing_cache.h"
#include "engine/tactics/timing_price_model.h"
#include "frontends/tensorrt/layer_network.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

std::map<std::string, Dims> extentsByInput(const std::vector<InputSpec>& specs) {
  std::map<std::string, Dims> extents;
  for (const InputSpec& spec : specs) extents.emplace(spec.name, spec.opt);
  return extents;
}

PricedKernel pricedKernel(const ReadBackPlan& made, const FusedNode& fused, double ms) {
  PricedKernel priced{.name = fused.name, .identity = fused.identity.hex(), .compute = fused.compute, .ms = ms};
  const ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
  for (const auto* values : {&kernel.inputs, &kernel.outputs})
    for (const KernelValue& value : *values)
      if (value.value.valid() && value.type != DataType::Undefined && !made.graph().isConstant(value.value))
        priced.moved.emplace(made.graph().value(value.value).name, value.type);
  return priced;
}

/// Adds planned kernels for whose nodes the engine reports that it needs no kernel.
void addNone(const ReadBackPlan& made, std::vector<PricedKernel>& kernels) {
  const auto needsNone = [&](NodeId node) {
    const Fate fate = made.fateOf(node);
    return fate == Fate::View || fate == Fate::Removed || fate == Fate::Folded || fate == Fate::Merged;
  };
  for (const FusedNode& planned : made.requested->fusedNodes)
    if (std::ranges::all_of(planned.nodes, needsNone))
      kernels.push_back({.name = "no kernel", .identity = planned.identity.hex(), .isNone = true});
}

void addConversions(const ReadBackPlan& made, std::vector<PricedConversion>& conversions) {
  for (const ReadBackConversion& conversion : made.conversions) {
    const auto from = dataTypeFromName(conversion.from), to = dataTypeFromName(conversion.to);
    const FusedNode* kernel = made.findFusedNode(conversion.kernel);
    if (!conversion.isCast || !conversion.value.valid() || !from || !to || kernel == nullptr) continue;
    const auto dims = made.graph().value(conversion.value).type.shape.fixed();
    const auto elements = dims ? elementCount(*dims) : std::nullopt;
    if (const auto& ms = made.kernels[kernel->id.index].ms; elements && ms)
      conversions.push_back({.from = *from, .to = *to, .elements = *elements, .ms = *ms});
  }
}

/// A price model over the tables of one network, target and device.
class EnginePriceModel final : public PriceModel {
 public:
  explicit EnginePriceModel(std::vector<EnginePriceTable> tables) : m_tables(std::move(tables)) {
    for (const EnginePriceTable& table : m_tables)
      for (const PricedKernel& kernel : table.kernels) m_kernels[kernel.identity].push_back({&table, &kernel});
  }

  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    const auto extents = extentsByInput(plan.inputSpecs);
    const std::string hash = plan.model->contentHash.hex();
    for (const FusedNode& fused : plan.fusedNodes) prices.push_back(priceOf(plan, fused, hash, extents));
    return prices;
  }

  /// If the same conversion was measured several times, returns the shortest time and the spread.
  Price conversion(DataType from, DataType to, std::int64_t elements) const override {
    Price price;
    double most = 0;
    for (const EnginePriceTable& table : m_tables)
      for (const PricedConversion& known : table.conversions) {
        if (known.from != from || known.to != to || known.elements != elements) continue;
        most = std::max(most, known.ms);
        if (price.ms && *price.ms <= known.ms) continue;
        price.ms = known.ms;
        price.how = PriceSource::Measured;
        price.from = table.origin.text();
      }
    if (price.ms && *price.ms > 0) price.spread = (most - *price.ms) / *price.ms;
    return price;
  }

 private:
  struct Known {
    const EnginePriceTable* table;
    const PricedKernel* kernel;
  };

  Price priceOf(const Plan& plan, const FusedNode& fused, const std::string& hash,
                const std::map<std::string, Dims>& extents) const {
    const auto known = m_kernels.find(fused.identity.hex());
    if (known == m_kernels.end() || plan.inFallback(fused)) return {};
    for (const auto& [table, kernel] : known->second) {
      const bool isOfPlan =
          table->modelHash == hash && table->origin.target == plan.options.target && table->extents == extents;
      if (!isOfPlan || !isSame(plan, fused, *kernel)) continue;
      return {.ms = kernel->ms,
              .how = PriceSource::Measured,
              .from = kernel->isNone
                          ? table->origin.text()
                          : fmt::format("{}, as {} in {}", table->origin.text(), kernel->name, name(kernel->compute))};
    }
    return {};
  }

  static bool isSame(const Plan& plan, const FusedNode& fused, const PricedKernel& kernel) {
    if (kernel.isNone) return true;
    if (kernel.compute == DataType::Undefined || kernel.compute != fused.compute) return false;
    const auto agrees = [&](ValueId value, DataType type) {
      const auto moved = kernel.moved.find(plan.graph().value(value).name);
      return moved == kernel.moved.end() || !isFloat(moved->second) || moved->second == type;
    };
    for (std::size_t i = 0; i < fused.inputs.size(); ++i)
      if (!agrees(fused.inputs[i], fused.reads[i])) return false;
    return std::ranges::all_of(fused.outputs,
                               [&](const FusedOutput& output) { return agrees(output.value, output.type); });
  }

  std::vector<EnginePriceTable> m_tables;
  std::map<std::string, std::vector<Known>> m_kernels;  ///< the known kernels by identity
};

}  // namespace

std::string EnginePriceOrigin::text() const {
  std::string text = compiler + (version.empty() ? "" : " " + version);
  text += " on " + (device.empty() ? std::string("a device that the files do not name") : device);
  if (!driver.empty()) text += ", driver " + driver;
  return text + (times.empty() ? "" : ", " + times);
}

Result<EnginePriceTable> enginePrices(const ReadBackPlan& made) {
  if (isOfEngineLayers(*made.model))
    return Diagnostic{.message =
                          "the network of this engine was only drawn from its layers, so the times of its kernels are "
                          "not prices for any plan",
                      .where = {.file = made.model->path},
                      .help = "Import it over its ONNX file: fusescope import-engine MODEL.onnx --layers …."};
  EnginePriceTable table{
      .origin = {.compiler = made.compiler.name, .version = made.compiler.version, .target = made.options.target},
      .model = made.model->path,
      .modelHash = made.model->contentHash.hex(),
      .extents = extentsByInput(made.inputSpecs)};
  if (const auto driver = made.compiler.options.find("driver"); driver != made.compiler.options.end())
    table.origin.driver = driver->second;
  if (made.placement) {
    table.origin.device = made.placement->device;
    table.origin.times = made.placement->times;
    table.origin.files = made.placement->files;
  }
  for (const FusedNode& fused : made.fusedNodes)
    if (const auto& ms = made.kernels[fused.id.index].ms; ms && !fused.nodes.empty())
      table.kernels.push_back(pricedKernel(made, fused, *ms));
  if (table.kernels.empty())
    return Diagnostic{.message = "the files contain no times of kernels",
                      .where = {.file = made.model->path},
                      .help = "Give a profile: fusescope import-engine … --profile profile.json."};
  addNone(made, table.kernels);
  addConversions(made, table.conversions);
  return table;
}

std::unique_ptr<PriceModel> measuredPrices(const std::string& backend) {
  return areTimesUsed() ? openPriceModel(timingCachePath(), backend) : nullptr;
}

std::unique_ptr<PriceModel> pricesFor(const std::string& backend, const std::string& target, const Model& model) {
  const auto known = Target::fromName(target);
  if (!known.ok() || !known.value().planningOnly) return measuredPrices(backend);
  const std::string hash = model.contentHash.hex();
  std::vector<EnginePriceTable> tables = keptEnginePrices();
  std::erase_if(
      tables, [&](const EnginePriceTable& table) { return table.origin.target != target || table.modelHash != hash; });
  if (tables.empty()) return nullptr;
  const std::string device = tables.front().origin.device;
  std::erase_if(tables, [&](const EnginePriceTable& table) { return table.origin.device != device; });
  return std::make_unique<EnginePriceModel>(std::move(tables));
}

std::unique_ptr<PriceModel> pricesOf(const Plan& plan, const std::string& backend) {
  return pricesFor(backend, plan.options.target, *plan.model);
}

std::vector<std::string> priceOrigins(const Plan& plan, const PriceModel& prices) {
  std::set<std::string> origins;
  for (const Price& price : prices.kernels(plan))
    if (price.ms && !price.from.empty()) origins.insert(price.from.substr(0, price.from.find(", as ")));
  return {origins.begin(), origins.end()};
}

}  // namespace fusescope
