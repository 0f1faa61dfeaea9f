#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"
#include "planning/prices/price_model.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// The source of the times of an engine.
struct EnginePriceOrigin {
  std::string compiler, version;
  std::string device{}, driver{};  ///< empty: no file says
  std::string times{};             ///< what a time is: "medians of 100 runs"
  std::string target;              ///< PlanOptions::target of the plans that can be priced with these
  std::vector<std::string> files{};
  std::string kept{};        ///< when they were kept, in the form of timestamp(); empty: they are not kept
  std::string text() const;  ///< such as "tensorrt 10.16.1 on NVIDIA H100 PCIe, driver 550.54, medians of 100 runs"
};

/// A kernel of an engine and its time. This is the price of a planned kernel with exactly the same nodes, the same
/// compute type and the same types in memory.
struct PricedKernel {
  std::string name;        ///< its name in the compiler
  std::string identity{};  ///< FusedNode::identity, in hex
  DataType compute = DataType::Undefined;
  std::map<std::string, DataType> moved{};  ///< types in memory of the values that it reads and writes, if they are
                                            ///< known
  bool isNone = false;                      ///< the engine needs no kernel for these nodes: they take 0 ms in every
                                            ///< type
  double ms = 0;
};

struct PricedConversion {
  DataType from = DataType::Undefined, to = DataType::Undefined;
  std::int64_t elements = 0;
  double ms = 0;
};

/// The times of an engine's kernels and casts, for plans of the network that it was built from.
struct EnginePriceTable {
  EnginePriceOrigin origin;
  std::string model, modelHash;         ///< the file, and Model::contentHash in hex
  std::map<std::string, Dims> extents;  ///< extents of the inputs at which it was measured
  std::vector<PricedKernel> kernels{};
  std::vector<PricedConversion> conversions{};
};

/// Returns the times of `made`. Errors: it was drawn only from layers, so that there is no network to price; it has no
/// times.
Result<EnginePriceTable> enginePrices(const ReadBackPlan& made);

Json toJson(const EnginePriceTable& table);  ///< the format is described in ENGINE_PRICES_FORMAT.md
Result<EnginePriceTable> enginePricesFromJson(const Json& json);

/// Stores a table in the folder of caches. It replaces a table of the same network, target, device, version and
/// kernels. Errors: the folder cannot be written.
Status keepEnginePrices(EnginePriceTable table);
/// Returns all stored tables, the latest first. Tables that cannot be read are omitted.
std::vector<EnginePriceTable> keptEnginePrices();
/// Deletes the tables of networks whose file is `model`, and returns their number.
Result<std::size_t> forgetEnginePrices(const std::string& model);

/// Returns prices from measurements of builds for `backend` on this machine; null if there are none yet, or if earlier
/// times are not to be used (areTimesUsed()). A plan that is
/// made with them has predicted times, and several allowed types are chosen by them.
std::unique_ptr<PriceModel> measuredPrices(const std::string& backend = "native");

/// Returns the prices for plans of `model` for `target`. If engines for the target cannot be built on this machine,
/// these are the stored times of engines; null if there are none. If there are several devices, the one whose times
/// were stored last is used, so that no plan mixes times of two devices. For other targets they are
/// measuredPrices(backend).
std::unique_ptr<PriceModel> pricesFor(const std::string& backend, const std::string& target, const Model& model);

/// Returns the same for plans of the network of `plan` for its target.
std::unique_ptr<PriceModel> pricesOf(const Plan& plan, const std::string& backend);

/// Returns the sources of the prices of the kernels of `plan` (Price::from), without duplicates. Empty: nothing has a
/// price.
std::vector<std::string> priceOrigins(const Plan& plan, const PriceModel& prices);

}  // namespace fusescope
