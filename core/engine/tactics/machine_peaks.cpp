#include "engine/tactics/machine_peaks.h"

#include <algorithm>
#include <array>

#include "backends/threads.h"
#include "base/hash.h"
#include "cache/timing_cache.h"
#include "engine/engine.h"
#include "engine/kernels/host_machine.h"
#include "engine/tactics/measured_data.h"
#include "passes/pipelines.h"

namespace fusescope {
namespace {

constexpr std::array<DataType, 4> kTypes{DataType::F32, DataType::BF16, DataType::F16, DataType::I8};
constexpr std::int64_t kExtent = 1024;  // the extents of the matrices
// The sizes of each tensor, in memory and in the caches.
constexpr std::int64_t kPassBytes = 64 * 1024 * 1024, kCachedBytes = 256 * 1024;
constexpr std::int64_t kMostCached = 8 * 1024 * 1024;
constexpr double kOperations = 2.0 * kExtent * kExtent * kExtent;  // the number of operations of the product
constexpr double kScale = 1.0 / 64;                                // the scale of quantised values
constexpr std::string_view kBackend = "native";

/// Returns different values in [-1, 1]; for int8, their codes.
Tensor pattern(DataType type, Dims dims) {
  Tensor tensor = differingFloats(std::move(dims));
  if (type == DataType::I8)
    for (float& value : tensor.mutableData<float>()) value /= static_cast<float>(kScale);
  return tensor.converted(type);
}

/// A network of one kernel between an input and an output of `type`.
class Network {
 public:
  Network(DataType type, Dims dims) : m_type(type), m_dims(std::move(dims)) {
    if (isQuantised()) {
      m_scale = m_editor.addConstant("scale", Tensor::scalar(static_cast<float>(kScale)));
      m_zero = m_editor.addConstant("zero", Tensor::zeros(m_type, {}));
    }
    m_at = read(m_editor.addInput("x", stored()));
  }
  void multiply() { add("MatMul", {m_at, read(m_editor.addConstant("w", pattern(m_type, m_dims)))}, calculated()); }
  Tensor input() const { return pattern(m_type, m_dims); }
  void rectify() { add("Relu", {m_at}, calculated()); }
  Result<std::shared_ptr<const Plan>> plan() {
    if (isQuantised()) add("QuantizeLinear", {m_at, m_scale, m_zero}, stored());
    m_editor.addOutput(m_at);
    Model model;
    model.path = model.format = "peak";
    model.origins = std::move(m_origins);
    model.graph = TRY(m_editor.publish());
    model.inputSpecs = {{.name = "x", .dtype = m_type, .min = m_dims, .opt = m_dims, .max = m_dims, .source = "file"}};
    return makePlan(std::make_shared<const Model>(TRY(prepareModel(std::move(model)))), {});
  }

 private:
  bool isQuantised() const { return m_type == DataType::I8; }
  TensorType stored() const { return {m_type, Shape::of(m_dims)}; }
  TensorType calculated() const { return {isQuantised() ? DataType::F32 : m_type, Shape::of(m_dims)}; }
  ValueId read(ValueId value) {
    if (!isQuantised()) return value;
    add("DequantizeLinear", {value, m_scale, m_zero}, calculated());
    return m_at;
  }
  void add(const char* op, std::vector<ValueId> inputs, TensorType type) {
    const std::string name = "node_" + std::to_string(m_origins.size());
    m_at = m_editor.addValue(name + "_out", std::move(type));
    m_editor.addNode({.op = op,
                      .name = name,
                      .inputs = std::move(inputs),
                      .outputs = {m_at},
                      .attributes = {},
                      .origins = {OriginId(m_origins.size())}});
    m_origins.push_back({name, op, ""});
  }

  DataType m_type;
  Dims m_dims;
  GraphEditor m_editor;
  std::vector<Origin> m_origins;
  ValueId m_scale, m_zero, m_at;
};

/// Returns the fastest run of the network, which is one kernel; nullopt if the kernel is emulated.
Result<std::optional<Measurement>> measured(Network network, const PeakOptions& options) {
  const auto engine = TRY(buildEngine(
      TRY(network.plan()), {.backend = std::string(kBackend), .threads = options.threads, .stop = options.stop}));
  const std::vector<TacticChoice>& choices = engine->report().tactics;
  const bool isOurs =
      std::ranges::none_of(choices, [](const TacticChoice& choice) { return choice.chosen == "reference"; });
  if (!isOurs) return std::optional<Measurement>();
  const TimeOptions timing{.seconds = options.seconds, .warmupSeconds = options.seconds / 3, .stop = options.stop};
  const TimeReport report = TRY(engine->time({{"x", network.input()}}, timing));
  if (!report.minMs) return std::optional<Measurement>();
  return std::optional(
      Measurement{.ms = *report.minMs, .day = measurementDay(), .median = *report.medianMs, .quiet = report.quiet});
}

/// Returns the key under which a peak is stored, for the measurement `what` in a type.
std::string keyOf(std::string_view what, DataType type, int threads) {
  KeyBuilder key;
  key.text("machine peak").text(what).text(name(type)).number(threads);
  key.text(findBackend(kBackend)->fingerprint().text());
  return key.canonical();
}

/// What is measured in one type, and the work or traffic of this measurement.
struct Part {
  std::string_view what;
  std::int64_t tensorBytes;  ///< the size of each tensor of a pass over memory; 0 for a product
  double amount;
  std::optional<double> TypePeak::*rate;
};
constexpr std::array<Part, 3> kParts{{{"product", 0, kOperations, &TypePeak::operationsPerSecond},
                                      {"pass", kPassBytes, 2.0 * kPassBytes, &TypePeak::bytesPerSecond},
                                      {"cached pass", kCachedBytes, 2.0 * kCachedBytes, &TypePeak::cachedPerSecond}}};

void take(TypePeak& peak, const Part& part, const std::optional<Measurement>& measurement) {
  if (!measurement || measurement->ms <= 0) return;
  peak.*part.rate = part.amount * 1000 / measurement->ms;
  peak.day = measurement->day;
  peak.quiet = peak.quiet && measurement->quiet;
}

Result<std::optional<Measurement>> measured(const Part& part, DataType type, const PeakOptions& options) {
  const bool isProduct = part.tensorBytes == 0;
  Network network(
      type, isProduct ? Dims{kExtent, kExtent} : Dims{part.tensorBytes / static_cast<std::int64_t>(byteSize(type, 1))});
  isProduct ? network.multiply() : network.rectify();
  return measured(std::move(network), options);
}

}  // namespace

const TypePeak* MachinePeaks::find(DataType type) const {
  const auto found = std::ranges::find(types, type, &TypePeak::type);
  return found == types.end() ? nullptr : &*found;
}

std::optional<double> MachinePeaks::leastMs(DataType compute, std::optional<std::int64_t> flops,
                                            std::optional<std::int64_t> bytes) const {
  const TypePeak* peak = find(compute);
  if (peak == nullptr || !flops || !bytes) return std::nullopt;
  const auto& moved = *bytes < kMostCached ? peak->cachedPerSecond : peak->bytesPerSecond;
  if (!peak->operationsPerSecond || !moved) return std::nullopt;
  return 1000 *
         std::max(static_cast<double>(*flops) / *peak->operationsPerSecond, static_cast<double>(*bytes) / *moved);
}

Result<MachinePeaks> measurePeaks(const PeakOptions& given) {
  PeakOptions options = given;
  if (options.threads <= 0) options.threads = hardwareThreads();
  std::shared_ptr<TimingCache> cache;
  if (!options.timingCache.empty()) {
    auto opened = TimingCache::open(options.timingCache);
    if (opened.ok()) cache = std::move(opened).value();
  }
  MachinePeaks peaks{.threads = options.threads, .types = {}};
  for (const DataType type : kTypes) {
    if (options.progress) options.progress("peaks", name(type));
    TypePeak peak{.type = type};
    for (const Part& part : kParts) {
      const auto measurement = TRY(measured(part, type, options));
      take(peak, part, measurement);
      if (cache && measurement) cache->store(keyOf(part.what, type, options.threads), *measurement);
    }
    peaks.types.push_back(std::move(peak));
  }
  return peaks;
}

std::optional<MachinePeaks> knownPeaks(const std::filesystem::path& timingCache, int threads) {
  std::error_code error;
  if (timingCache.empty() || !std::filesystem::exists(timingCache, error)) return std::nullopt;
  const auto cache = TimingCache::openKnown(timingCache);
  if (!cache.ok()) return std::nullopt;
  MachinePeaks peaks{.threads = threads > 0 ? threads : hardwareThreads(), .types = {}};
  for (const DataType type : kTypes) {
    TypePeak peak{.type = type};
    for (const Part& part : kParts) take(peak, part, cache.value()->find(keyOf(part.what, type, peaks.threads)));
    if (!peak.day.empty()) peaks.types.push_back(std::move(peak));
  }
  return peaks.types.empty() ? std::nullopt : std::optional(std::move(peaks));
}

}  // namespace fusescope
