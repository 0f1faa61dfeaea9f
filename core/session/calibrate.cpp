#include "session/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calibration/edge_choice.h"
#include "calibration/weight_codes.h"
#include "engine/kernels/input_check.h"
#include "engine/program/extent_check.h"
#include "engine/steps/fused_node_steps.h"
#include "planning/patterns/match_pattern.h"
#include "planning/types/without_lowered_types.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "verify/kept_values.h"

namespace fusescope {
namespace {

/// The activations of samples that are run together use about this much memory at most.
constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

/// Sums over a channel, as doubles, so that the order of samples does not influence the resulting floats.
struct ChannelSums {
  std::vector<double> sum;
  std::vector<float> largest;
  std::int64_t count = 0;  ///< the count of numbers in each channel
};

/// The observations of all samples so far, including those in bodies. Values of a network are identified by their
/// names.
class Observations {
 public:
  explicit Observations(const Model& model) { addNeeds(model, {}); }

  /// Adds the numbers of `value` of `graph`, which is at `path`. Returns an error if NaN or infinity occurs on an edge
  /// that may be quantised; whoever runs the graph adds the path to the error.
  Status see(const Graph& graph, ValueId value, const BodyPath& path, const Tensor& tensor, const std::string& sample) {
    if (!isFloat(tensor.type()) || tensor.container() != Container::None) return Done{};
    const Tensor numbers = tensor.type() == DataType::F32 ? tensor : tensor.converted(DataType::F32);
    const std::string name = path.of(graph.value(value).name);
    Histogram& histogram = m_histograms[name];
    const std::int64_t before = histogram.notFinite();
    histogram.add(numbers.data<float>());
    if (histogram.notFinite() > before && m_needed.contains(name)) {
      const NodeId producer = graph.value(value).producer;
      return notFinite(name, graph.has(producer) ? graph.node(producer).name : "", histogram.notFinite() - before,
                       sample);
    }
    if (const auto axis = m_channelAxis.find(name); axis != m_channelAxis.end())
      seeChannels(name, numbers, axis->second);
    return Done{};
  }

  void write(const RangeChoice& choice, bool channels, Ranges& ranges) {
    for (auto& [name, histogram] : m_histograms) {
      if (histogram.count() == 0) continue;
      const ValueRange range = rangeOf(histogram, choice);
      ranges.edges.emplace(name, EdgeRange{range, std::move(histogram)});
    }
    for (auto& [name, sums] : m_channels) {
      if (!channels || sums.count == 0) continue;
      ChannelStatistics seen{.largest = std::move(sums.largest)};
      for (const double sum : sums.sum) seen.mean.push_back(static_cast<float>(sum / static_cast<double>(sums.count)));
      ranges.channels.emplace(name, std::move(seen));
    }
  }

 private:
  void addNeeds(const Model& model, const BodyPath& path) {
    const Graph& graph = *model.graph;
    for (const ValueId value : valuesToObserve(graph)) m_needed.insert(path.of(graph.value(value).name));
    for (const NodeId id : graph.order()) {
      if (!multiplies(graph.node(id))) continue;
      const auto form = productOf(graph, graph.node(id));
      if (const auto* product = std::get_if<Product>(&form))
        m_channelAxis.emplace(path.of(graph.value(product->source).name), product->sourceAxis);
    }
    for (const ModelBody& body : model.bodies)
      addNeeds(*body.model, path.into(graph.node(body.holder), body.attribute));
  }

  static Diagnostic notFinite(const std::string& value, const std::string& node, std::int64_t count,
                              const std::string& sample) {
    return {.message = fmt::format("{} of its numbers are NaN or infinite in sample '{}'", count, sample),
            .where = {.node = node, .value = value},
            .help =
                "No range can contain them: find their origin with fusescope errors, or exclude the nodes that read "
                "the value from calibration."};
  }

  void seeChannels(const std::string& value, const Tensor& numbers, std::int64_t axis) {
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

  std::set<std::string> m_needed;
  std::map<std::string, std::int64_t> m_channelAxis;
  std::map<std::string, Histogram> m_histograms;
  std::map<std::string, ChannelSums> m_channels;
};

/// Observes the bodies of a plan, at any depth, in every iteration.
class SeenInBodies final : public BodyObserver {
 public:
  /// The arguments must outlive it.
  SeenInBodies(const Plan& plan, const std::string& sample, Observations& observations)
      : m_sample(sample), m_observations(observations) {
    addPaths(plan, {});
  }

  std::set<ValueId> wanted(const Plan& body) override {
    std::set<ValueId> values;
    for (const FusedNode& fused : body.fusedNodes)
      for (const FusedOutput& output : fused.outputs)
        if (!body.graph().isOutput(output.value)) values.insert(output.value);
    return values;
  }

  Status called(const Plan& body, const std::function<std::vector<Tensor>()>& inputs) override {
    const std::vector<Tensor> given = inputs();
    for (std::size_t i = 0; i < given.size(); ++i) TRY(see(body, body.graph().inputs()[i], given[i]));
    return Done{};
  }

  Status ran(const Plan& body, const std::function<std::map<ValueId, Tensor>()>& values) override {
    for (const auto& [value, tensor] : values()) TRY(see(body, value, tensor));
    return Done{};
  }

 private:
  Status see(const Plan& body, ValueId value, const Tensor& tensor) {
    return m_observations.see(body.graph(), value, m_paths.at(&body), tensor, m_sample);
  }

  void addPaths(const Plan& plan, const BodyPath& path) {
    for (const CoverBody& body : plan.bodies) {
      const BodyPath inside = path.into(plan.graph().node(body.holder), body.attribute);
      m_paths[&plannedBody(body)] = inside;
      addPaths(plannedBody(body), inside);
    }
  }

  const std::string& m_sample;
  Observations& m_observations;
  std::map<const Plan*, BodyPath> m_paths;
};

/// Completes the error of an observation: it names the sample, and the inputs of this sample that contain NaN or
/// infinities.
Status naming(Status seen, const Sample& sample) {
  const auto odd = seen.ok() ? std::vector<NotFiniteInput>() : notFiniteInputs(sample.inputs, sample.name);
  if (odd.empty()) return seen;
  Diagnostic error = std::move(seen).error();
  const bool isInput = sample.inputs.contains(error.where.value);
  error.message = isInput ? inWords(odd) : error.message + "; " + inWords(odd);
  error.help =
      "No range can contain such numbers: leave the sample out, or leave out the nodes that read the value, with "
      "--exclude.";
  return error;
}

/// Runs samples of equal extents through the network, node by node. `running` is set to the name of the sample that
/// runs.
Status runSamples(FusedNodeSteps& steps, std::span<const Sample> samples, const CalibrateOptions& options,
                  std::string& running, Observations& observations) {
  const Graph& graph = steps.plan().graph();
  KeptValues values;
  for (const FusedNode& fused : steps.plan().fusedNodes)
    for (const ValueId input : fused.inputs) values.willUse(input);
  for (const ValueId input : graph.inputs()) {
    std::vector<Tensor> tensors;
    for (const Sample& sample : samples) {
      tensors.push_back(sample.inputs.at(graph.value(input).name));
      TRY(naming(observations.see(graph, input, {}, tensors.back(), sample.name), sample));
    }
    values.keep(input, std::move(tensors));
  }
  for (const FusedNode& fused : steps.plan().fusedNodes) {
    TRY(checkStop(options.stop));
    if (options.progress) options.progress("calibrate", fused.name);
    auto step = TRY(steps.step(fused));
    std::vector<std::vector<Tensor>> outputs(fused.outputs.size());
    for (std::size_t s = 0; s < samples.size(); ++s) {
      running = samples[s].name;
      std::vector<Tensor> given;
      for (const ValueId input : fused.inputs) given.push_back(values.of(input)[s]);
      std::vector<Tensor> made = TRY(inSample(step.run(given, options.stop), samples[s], samples.size()));
      for (std::size_t i = 0; i < made.size(); ++i) {
        TRY(naming(observations.see(graph, fused.outputs[i].value, {}, made[i], running), samples[s]));
        outputs[i].push_back(std::move(made[i]));
      }
    }
    steps.release(std::move(step));
    for (std::size_t i = 0; i < outputs.size(); ++i) values.keep(fused.outputs[i].value, std::move(outputs[i]));
    for (const ValueId input : fused.inputs) values.used(input);
  }
  return Done{};
}

/// Adds the nodes after which kernels of `plan`, at `path`, must end, so that all edges that may need ranges are in
/// memory.
void addSplits(const Plan& plan, const BodyPath& path, std::set<std::string>& split) {
  const Graph& graph = plan.graph();
  std::set<ValueId> inMemory;
  for (const FusedNode& fused : plan.fusedNodes)
    for (const FusedOutput& output : fused.outputs) inMemory.insert(output.value);
  for (const ValueId value : valuesToObserve(graph))
    if (const NodeId producer = graph.value(value).producer; graph.has(producer) && !inMemory.contains(value))
      split.insert(path.of(graph.node(producer).name));
  for (const CoverBody& body : plan.bodies)
    addSplits(plannedBody(body), path.into(graph.node(body.holder), body.attribute), split);
}

/// Returns the network in float32, planned so that all edges that may need ranges are in memory.
Result<std::shared_ptr<const Plan>> planToObserve(const Plan& plan, const StopToken& stop) {
  const auto& model = unquantized(plan.model);
  PlanOptions options = forOwnCompiler(withoutLoweredTypes(plan.options));
  auto exact = TRY(makePlan(model, options, nullptr, stop));
  std::set<std::string> split;
  addSplits(*exact, {}, split);
  if (split.empty()) return exact;
  for (const std::string& node : split) options.directives.push_back(splitDirective(node));
  assignIds(options.directives);
  return makePlan(model, options, nullptr, stop, exact.get());
}

Status addWeights(const Model& model, const BodyPath& path, const CalibrateOptions& options, Ranges& ranges) {
  const Graph& graph = *model.graph;
  for (const NodeId id : graph.order()) {
    TRY(checkStop(options.stop));
    if (!multiplies(graph.node(id))) continue;
    const auto form = productOf(graph, graph.node(id));
    const auto* product = std::get_if<Product>(&form);
    if (product == nullptr) continue;
    const std::string weights = path.of(graph.value(product->weights).name);
    if (ranges.weights.contains(weights)) continue;
    if (options.progress) options.progress("weights", path.of(graph.node(id).name));
    RangeChoice choice = options.settings.choice;
    choice.method = options.settings.weightMethod;
    const Tensor& numbers = *graph.constantData(product->weights);
    if (notFiniteIn(numbers) > 0) continue;  // they remain floats (quantize.weights_not_finite)
    ranges.weights.emplace(weights,
                           weightRangeOf(numbers, options.settings.perChannel ? product->outputAxis : -1, choice));
  }
  for (const ModelBody& body : model.bodies)
    TRY(addWeights(*body.model, path.into(graph.node(body.holder), body.attribute), options, ranges));
  return Done{};
}

}  // namespace

Result<Ranges> calibrate(const Plan& plan, const Samples& samples, const CalibrateOptions& options) {
  const auto exact = TRY(planToObserve(plan, options.stop));
  PatternMatcher matcher(*exact->model);
  for (const std::string& pattern : options.settings.exclude) {
    auto matched = matcher.match(pattern, options.stop);
    if (matched.ok()) continue;
    Diagnostic error = std::move(matched).error();
    error.where.attribute = "--exclude";
    return error;
  }
  Observations observations(*exact->model);
  std::string running;
  const BuildOptions build{.backend = options.backend, .threads = options.threads, .stop = options.stop};
  const std::span<const Sample> all = samples.list;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto extents = TRY(checkInputs(*exact, all[begin].inputs));
    const auto planned = planRunBy(TRY(planAt(exact, extents, options.stop)), options.backend);
    SeenInBodies inBodies(*planned, running, observations);
    const auto steps = TRY(FusedNodeSteps::create(planned, extents, build));
    steps->observeBodies(&inBodies);
    const std::size_t end =
        TRY(endOfStretch(*exact, all, begin, extents, steps->bytesInMemory(), kKeptBytes, &Sample::inputs));
    TRY(runSamples(*steps, all.subspan(begin, end - begin), options, running, observations));
    begin = end;
  }
  const CalibrationSettings& settings = options.settings;
  Ranges ranges{.settings = settings, .samples = std::ssize(samples.list), .randomInputs = samples.random};
  if (options.progress) options.progress("ranges", name(settings.choice.method));
  observations.write(settings.choice, settings.correctBiases || settings.smoothing > 0, ranges);
  TRY(addWeights(*exact->model, {}, options, ranges));
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
  Json json = {{"format", "fusescope.calibration"}, {"version", 1}, {"file", file}};
  json.update(toJson(ranges.settings));
  json.update({{"samples", ranges.samples},
               {"random_inputs", ranges.randomInputs},
               {"weights", ranges.weights.size()},
               {"edges", Json::array()}});
  for (const auto& [value, edge] : ranges.edges) {
    Json entry = {{"value", value}, {"low", edge.range.low}, {"high", edge.range.high}};
    if (edge.histogram) {
      entry["min"] = edge.histogram->least();
      entry["max"] = edge.histogram->most();
      entry["clamped"] = clampedShare(edge);
      entry["error"] =
          jsonNumber(std::sqrt(quantizationError(*edge.histogram, edge.range, ranges.settings.choice.symmetric)));
    }
    json["edges"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace fusescope
