#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "planning/plan.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// Where times of an engine come from.
struct EnginePriceOrigin {
  std::string compiler, version;
  std::string device{}, driver{};  ///< empty: no file says
  std::string times{};             ///< what a time counts: "medians of 100 runs"
  std::string target;              ///< PlanOptions::target of the plans that these are prices of
  std::vector<std::string> files{};
  std::string kept{};        ///< when they were kept, as timestamp() says it; empty: they were not
  std::string text() const;  ///< "tensorrt 10.16.1 on NVIDIA H100 PCIe, driver 550.54, medians of 100 runs"
};

/// A kernel of an engine and its time. It is the price of a planned kernel of just the same nodes that calculates in
/// the same type and has the same types in memory, and of no other.
struct PricedKernel {
  std::string name;        ///< that its compiler gave it
  std::string identity{};  ///< FusedNode::identity, in hex
  DataType compute = DataType::Undefined;
  std::map<std::string, DataType> moved{};  ///< types in memory of the values that it reads and writes, where told
  bool isNone = false;                      ///< the engine needs no kernel for these nodes: 0 ms in whatever type
  double ms = 0;
};

struct PricedConversion {
  DataType from = DataType::Undefined, to = DataType::Undefined;
  std::int64_t elements = 0;
  double ms = 0;
};

/// What an engine's kernels and casts took, for plans of the network that it was built from.
struct EnginePriceTable {
  EnginePriceOrigin origin;
  std::string model, modelHash;         ///< the file, and Model::contentHash in hex
  std::map<std::string, Dims> extents;  ///< of the inputs, at which it was measured
  std::vector<PricedKernel> kernels{};
  std::vector<PricedConversion> conversions{};
};

/// What `made` took. Errors: it was drawn from layers alone, so that no network can be priced; no times are told.
Result<EnginePriceTable> enginePrices(const ReadBackPlan& made);

Json toJson(const EnginePriceTable& table);  ///< ENGINE_PRICES_FORMAT.md
Result<EnginePriceTable> enginePricesFromJson(const Json& json);

/// Keeps a table in the folder of caches, in place of one of the same network, target, device, version and kernels.
/// Errors: the folder cannot be written.
Status keepEnginePrices(EnginePriceTable table);
/// All that are kept, the newest first. What cannot be read is left out.
std::vector<EnginePriceTable> keptEnginePrices();
/// Removes the tables of networks whose file is `model`; how many there were.
Result<std::size_t> forgetEnginePrices(const std::string& model);

/// Prices of plans of `model` for `target`: what engines measured whose times are kept, where engines for the target
/// cannot be built here; null where none are kept. Of several devices the one counts whose times were kept last, so
/// that no plan has times of two. For other targets measuredPrices(backend).
std::unique_ptr<PriceModel> pricesFor(const std::string& backend, const std::string& target, const Model& model);

/// The same for plans made of the network of `plan` for its target.
std::unique_ptr<PriceModel> pricesOf(const Plan& plan, const std::string& backend);

/// Price::from of the kernels of `plan`, each once: where its times come from. Empty: nothing is priced.
std::vector<std::string> priceOrigins(const Plan& plan, const PriceModel& prices);

}  // namespace fusescope
