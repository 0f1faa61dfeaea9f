#include "compilers/onnxruntime/value_comparison.h"

#include "base/temporary_folder.h"
#include "interchange/npz.h"

namespace fusescope::onnxruntime {
namespace {

constexpr const char* kInputs = "inputs.npz";
constexpr std::int64_t kMostBytes = std::int64_t{512} << 20;  ///< of values in memory at once, of each network

class Comparison {
 public:
  Comparison(Reading& reading, ProbeJob& job, const StopToken& stop) : m_reading(reading), m_job(job), m_stop(stop) {}

  Result<std::vector<Decision>> run(const std::map<std::string, Tensor>& inputs) {
    const auto folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope.values"));
    m_inputs = folder / kInputs;
    TRY(writeNpz(m_inputs, inputs));
    const bool isCoded = isQuantised(m_reading.network);
    for (const std::vector<BoundPair>& part : pairsToCompare(m_reading, kMostBytes)) {
      TRY(checkStop(m_stop));
      TRY(compare(part, isCoded));
    }
    coverAgain(m_reading);
    return std::move(m_refuted);
  }

 private:
  Status compare(const std::vector<BoundPair>& part, bool isCoded) {
    Json ofOptimised = Json::array(), ofHanded = Json::array(), pairs = Json::array();
    for (const BoundPair& pair : part) {
      add(ofOptimised, m_reading.optimised.graph.tensor(pair.optimised));
      add(ofHanded, m_reading.network.graph.tensor(pair.tensor));
      pairs.push_back({nameOfOptimised(pair), nameOfHanded(pair), int(layoutOf(pair))});
    }
    auto handed = filesOf(m_reading.network.handed);
    handed.emplace(kInputs, m_inputs);
    const std::vector<ProbeRequest> questions{
        {.json = {{"op", "values"}, {"optimised", true}, {"outputs", ofOptimised}}, .files = {{kInputs, m_inputs}}},
        {.json = {{"op", "values"}, {"outputs", ofHanded}}, .files = std::move(handed)}};
    const Json what{{"format", "fusescope.comparison.1"}, {"pairs", std::move(pairs)}, {"codes", isCoded}};
    std::vector<NpzArrays> values;
    const AnswerEvaluation comparison{.what = what.dump(),
                                      .take = [&](const ProbeAnswer& answer) -> Status {
                                        values.push_back(TRY(valuesIn(answer)));
                                        return Done{};
                                      },
                                      .result = [&] { return compared(part, isCoded, values.at(0), values.at(1)); }};
    const Json equal = TRY(m_job.evaluated(questions, comparison, m_stop));
    if (!equal.is_array() || equal.size() != part.size())
      return Diagnostic{.message = "a kept comparison is about other tensors"};
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!equal[i].is_boolean()) continue;
      note(m_reading, part[i], equal[i].get<bool>());
      if (!equal[i].get<bool>()) refute(part[i]);
    }
    return Done{};
  }

  /// Returns for each pair whether its numbers are equal; null if one of the networks did not return them.
  Result<Json> compared(const std::vector<BoundPair>& part, bool isCoded, const NpzArrays& optimised,
                        const NpzArrays& handed) const {
    Json equal = Json::array();
    for (const BoundPair& pair : part) {
      const auto is = optimised.find(nameOfOptimised(pair)), was = handed.find(nameOfHanded(pair));
      const bool isThere = is != optimised.end() && was != handed.end();
      equal.push_back(isThere ? Json(areEqual(is->second, layoutOf(pair), was->second, isCoded)) : Json());
    }
    return equal;
  }

  static Result<NpzArrays> valuesIn(const ProbeAnswer& answer) {
    const auto given = answer.files.find("outputs.npz");
    if (given == answer.files.end()) return Diagnostic{.message = "the probe for ONNX Runtime returned no values"};
    return readNpz(given->second);
  }

  std::string nameOfOptimised(const BoundPair& pair) const {
    return std::string(m_reading.optimised.graph.tensor(pair.optimised).name);
  }
  std::string nameOfHanded(const BoundPair& pair) const {
    return std::string(m_reading.network.graph.tensor(pair.tensor).name);
  }
  Layout layoutOf(const BoundPair& pair) const { return m_reading.optimised.bindings[pair.optimised].layout; }

  /// Adds each value once. Outputs of the network need not be added.
  static void add(Json& names, const TensorGraph::Tensor& tensor) {
    const std::string name(tensor.name);
    if (!tensor.isOutput && std::find(names.begin(), names.end(), Json(name)) == names.end()) names.push_back(name);
  }

  void refute(const BoundPair& pair) {
    const auto known = m_reading.network.handed.values.find(m_reading.network.graph.tensor(pair.tensor).name);
    if (known == m_reading.network.handed.values.end()) return;
    const Graph& graph = m_reading.network.handed.plan->graph();
    if (!graph.has(known->second)) return;
    m_refuted.push_back(decide("build.numbers_differ", {Subject::value(graph.value(known->second).name)}, "onnxruntime",
                               {{"tensor", m_reading.optimised.graph.tensor(pair.optimised).name}}));
  }

  Reading& m_reading;
  ProbeJob& m_job;
  const StopToken& m_stop;
  std::filesystem::path m_inputs;
  std::vector<Decision> m_refuted;
};

}  // namespace

Result<std::vector<Decision>> compareValues(Reading& reading, const std::map<std::string, Tensor>& inputs,
                                            ProbeJob& job, const StopToken& stop) {
  return Comparison(reading, job, stop).run(inputs);
}

}  // namespace fusescope::onnxruntime
