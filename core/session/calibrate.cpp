#include "session/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calibration/edge_choice.h"
#include "calibration/weight_codes.h"
#include "engine/extent_check.h"
#include "engine/fused_node_steps.h"
#include "engine/input_check.h"
#include "planning/match_pattern.h"
#include "session/session.h"
#include "verify/exact_run.h"

namespace fusescope {
namespace {

/// Kept activations of samples that go through together take about so much memory at the most.
constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

/// Sums over a channel, in doubles: the order of samples does not show in the floats that come of them.
struct ChannelSums {
  std::vector<double> sum;
  std::vector<float> largest;
  std::int64_t count = 0;  ///< numbers of each channel
};

/// What was seen of all samples so far.
class Observations {
 public:
  explicit Observations(const Graph& graph) : m_graph(graph) {
    for (const ValueId value : valuesToObserve(graph)) m_needed.insert(value);
    for (const NodeId id : graph.order()) {
      if (!multiplies(graph.node(id))) continue;
      const auto form = productOf(graph, graph.node(id));
      if (const auto* product = std::get_if<Product>(&form))
        m_channelAxis.emplace(product->source, product->sourceAxis);
    }
  }

  /// An error where NaN or infinity stands on an edge that may become codes.
  Status see(ValueId value, const Tensor& tensor, const std::string& sample) {
    if (!isFloat(tensor.type()) || tensor.container() != Container::None) return Done{};
    const Tensor numbers = tensor.type() == DataType::F32 ? tensor : tensor.converted(DataType::F32);
    Histogram& histogram = m_histograms[value];
    const std::int64_t before = histogram.notFinite();
    histogram.add(numbers.data<float>());
    if (histogram.notFinite() > before && m_needed.contains(value)) return notFinite(value, histogram, before, sample);
    if (const auto axis = m_channelAxis.find(value); axis != m_channelAxis.end())
      seeChannels(value, numbers, axis->second);
    return Done{};
  }

  void write(const RangeChoice& choice, bool channels, Ranges& ranges) {
    for (auto& [value, histogram] : m_histograms) {
      if (histogram.count() == 0) continue;
      const ValueRange range = rangeOf(histogram, choice);
      ranges.edges.emplace(m_graph.value(value).name, EdgeRange{range, std::move(histogram)});
    }
    for (auto& [value, sums] : m_channels) {
      if (!channels || sums.count == 0) continue;
      ChannelStatistics seen{.largest = std::move(sums.largest)};
      for (const double sum : sums.sum) seen.mean.push_back(static_cast<float>(sum / static_cast<double>(sums.count)));
      ranges.channels.emplace(m_graph.value(value).name, std::move(seen));
    }
  }

 private:
  Diagnostic notFinite(ValueId value, const Histogram& histogram, std::int64_t before,
                       const std::string& sample) const {
    const NodeId producer = m_graph.value(value).producer;
    return {
        .message =
            fmt::format("{} of its numbers are NaN or infinite in sample '{}'", histogram.notFinite() - before, sample),
        .where = {.node = m_graph.has(producer) ? m_graph.node(producer).name : "", .value = m_graph.value(value).name},
        .help =
            "No range holds them: see where they come from with fusescope errors, or leave the nodes that read it "
            "out of what is calibrated."};
  }

  void seeChannels(ValueId value, const Tensor& numbers, std::int64_t axis) {
    const Dims& dims = numbers.dims();
    if (axis >= std::ssize(dims) || numbers.count() == 0) return;
    const std::int64_t channels = dims[static_cast<std::size_t>(axis)];
    ChannelSums& sums = m_channels[value];
    if (sums.sum.empty()) {
      sums.sum.resize(static_cast<std::size_t>(channels));
      sums.largest.resize(static_cast<std::size_t>(channels));
    }
    if (std::ssize(sums.sum) != channels) return;
    std::int64_t inner = 1;
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
    const auto data = numbers.data<float>();
    for (std::size_t begin = 0, c = 0; begin < data.size(); begin += static_cast<std::size_t>(inner)) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const float number = data[begin + static_cast<std::size_t>(i)];
        sums.sum[c] += number;
        sums.largest[c] = std::max(sums.largest[c], std::abs(number));
      }
      c = (c + 1) % static_cast<std::size_t>(channels);
    }
    sums.count += numbers.count() / channels;
  }

  const Graph& m_graph;
  std::set<ValueId> m_needed;
  std::map<ValueId, std::int64_t> m_channelAxis;
  std::map<ValueId, Histogram> m_histograms;
  std::map<ValueId, ChannelSums> m_channels;
};

/// Samples of equal extents through the network, node by node.
Status runSamples(FusedNodeSteps& steps, std::span<const Sample> samples, const CalibrateOptions& options,
                  Observations& observations) {
  const Graph& graph = steps.plan().graph();
  KeptValues values;
  for (const FusedNode& fused : steps.plan().fusedNodes)
    for (const ValueId input : fused.inputs) values.willUse(input);
  for (const ValueId input : graph.inputs()) {
    std::vector<Tensor> tensors;
    for (const Sample& sample : samples) {
      tensors.push_back(sample.inputs.at(graph.value(input).name));
      TRY(observations.see(input, tensors.back(), sample.name));
    }
    values.keep(input, std::move(tensors));
  }
  for (const FusedNode& fused : steps.plan().fusedNodes) {
    TRY(checkStop(options.stop));
    if (options.progress) options.progress("calibrate", fused.name);
    auto step = TRY(steps.step(fused));
    auto outputs = TRY(runOnSamples(step, fused, values, samples.size(), options.stop));
    for (std::size_t s = 0; s < samples.size(); ++s)
      for (std::size_t i = 0; i < outputs.size(); ++i)
        TRY(observations.see(fused.outputs[i].value, outputs[i][s], samples[s].name));
    steps.release(std::move(step));
    for (std::size_t i = 0; i < outputs.size(); ++i) values.keep(fused.outputs[i].value, std::move(outputs[i]));
    for (const ValueId input : fused.inputs) values.used(input);
  }
  return Done{};
}

/// The network in float32, in which all edges whose ranges may be asked for stand in memory.
Result<std::shared_ptr<const Plan>> planToObserve(const Plan& plan, const StopToken& stop) {
  const auto& model = unquantized(plan.model);
  PlanOptions options = withoutLoweredTypes(plan.options);
  auto exact = TRY(makePlan(model, options, nullptr, stop));
  std::set<ValueId> inMemory;
  for (const FusedNode& fused : exact->fusedNodes)
    for (const FusedOutput& output : fused.outputs) inMemory.insert(output.value);
  const Graph& graph = *model->graph;
  std::set<std::string> split;
  for (const ValueId value : valuesToObserve(graph))
    if (const NodeId producer = graph.value(value).producer; graph.has(producer) && !inMemory.contains(value))
      split.insert(graph.node(producer).name);
  if (split.empty()) return exact;
  for (const std::string& node : split) options.directives.push_back(splitDirective(node));
  assignIds(options.directives);
  return makePlan(model, options, nullptr, stop, exact.get());
}

Status addWeights(const Graph& graph, const CalibrateOptions& options, Ranges& ranges) {
  for (const NodeId id : graph.order()) {
    TRY(checkStop(options.stop));
    if (!multiplies(graph.node(id))) continue;
    const auto form = productOf(graph, graph.node(id));
    const auto* product = std::get_if<Product>(&form);
    if (product == nullptr || ranges.weights.contains(graph.value(product->weights).name)) continue;
    if (options.progress) options.progress("weights", graph.node(id).name);
    RangeChoice choice = options.choice;
    choice.method = options.weightMethod;
    ranges.weights.emplace(
        graph.value(product->weights).name,
        weightRangeOf(*graph.constantData(product->weights), options.perChannel ? product->outputAxis : -1, choice));
  }
  return Done{};
}

}  // namespace

Result<Ranges> calibrate(const Plan& plan, const Samples& samples, const CalibrateOptions& options) {
  const auto exact = TRY(planToObserve(plan, options.stop));
  PatternMatcher matcher(*exact->model);
  for (const std::string& pattern : options.exclude) TRY(matcher.match(pattern, options.stop));
  Observations observations(exact->graph());
  const BuildOptions build{.backend = options.backend, .threads = options.threads, .stop = options.stop};
  const std::span<const Sample> all = samples.list;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto extents = TRY(checkInputs(*exact, all[begin].inputs));
    const auto steps = TRY(FusedNodeSteps::create(TRY(planAt(exact, extents, options.stop)), extents, build));
    const std::size_t end =
        TRY(endOfStretch(*exact, all, begin, extents, steps->bytesInMemory(), kKeptBytes, &Sample::inputs));
    TRY(runSamples(*steps, all.subspan(begin, end - begin), options, observations));
    begin = end;
  }
  Ranges ranges{.choice = options.choice,
                .weightMethod = options.weightMethod,
                .perChannel = options.perChannel,
                .correctBiases = options.correctBiases,
                .smoothing = options.smoothing,
                .exclude = options.exclude,
                .samples = std::ssize(samples.list),
                .randomInputs = samples.random};
  if (options.progress) options.progress("ranges", name(options.choice.method));
  observations.write(options.choice, options.correctBiases || options.smoothing > 0, ranges);
  TRY(addWeights(exact->graph(), options, ranges));
  return ranges;
}

double clampedShare(const EdgeRange& edge) {
  if (!edge.histogram || edge.histogram->count() == 0) return 0;
  double beyond = 0;
  for (const Histogram::Bin& bin : edge.histogram->filled())
    if (bin.number < edge.range.low || bin.number > edge.range.high) beyond += bin.count;
  return beyond / static_cast<double>(edge.histogram->count());
}

Json calibrationJson(const Ranges& ranges, const std::string& file) {
  Json json = {{"format", "fusescope.calibration"},
               {"version", 1},
               {"file", file},
               {"method", name(ranges.choice.method)},
               {"symmetric", ranges.choice.symmetric},
               {"weights_method", name(ranges.weightMethod)},
               {"per_channel", ranges.perChannel},
               {"correct_biases", ranges.correctBiases},
               {"smoothing", ranges.smoothing},
               {"samples", ranges.samples},
               {"random_inputs", ranges.randomInputs},
               {"weights", ranges.weights.size()},
               {"edges", Json::array()}};
  for (const auto& [value, edge] : ranges.edges) {
    Json entry = {{"value", value}, {"low", edge.range.low}, {"high", edge.range.high}};
    if (edge.histogram) {
      entry["min"] = edge.histogram->least();
      entry["max"] = edge.histogram->most();
      entry["clamped"] = clampedShare(edge);
      entry["error"] = jsonNumber(std::sqrt(quantizationError(*edge.histogram, edge.range, ranges.choice.symmetric)));
    }
    json["edges"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace fusescope
