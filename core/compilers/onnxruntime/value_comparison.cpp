#include "compilers/onnxruntime/value_comparison.h"

#include "base/temporary_folder.h"
#include "interchange/npz.h"

namespace fusescope::onnxruntime {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{512} << 20;  ///< of values in memory at once, of each network

class Comparison {
 public:
  Comparison(Reading& reading, ProbeJob& job, const StopToken& stop) : m_reading(reading), m_job(job), m_stop(stop) {}

  Result<std::vector<Decision>> run(const std::map<std::string, Tensor>& inputs) {
    const auto folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope.values"));
    m_inputs = folder / "inputs.npz";
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
    Json ofOptimised = Json::array(), ofHanded = Json::array();
    for (const BoundPair& pair : part) {
      add(ofOptimised, m_reading.optimised.graph.tensor(pair.optimised));
      add(ofHanded, m_reading.network.graph.tensor(pair.tensor));
    }
    const NpzArrays optimised = TRY(values({{"op", "values"}, {"optimised", true}, {"outputs", ofOptimised}}, {}));
    const NpzArrays handed = TRY(values({{"op", "values"}, {"outputs", ofHanded}}, filesOf(m_reading.network.handed)));
    for (const BoundPair& pair : part) {
      const auto is = optimised.find(std::string(m_reading.optimised.graph.tensor(pair.optimised).name));
      const auto was = handed.find(std::string(m_reading.network.graph.tensor(pair.tensor).name));
      if (is == optimised.end() || was == handed.end()) continue;
      const Layout layout = m_reading.optimised.bindings[pair.optimised].layout;
      const bool isEqual = areEqual(is->second, layout, was->second, isCoded);
      note(m_reading, pair, isEqual);
      if (!isEqual) refute(pair);
    }
    return Done{};
  }

  /// Adds each value once. Outputs of the network need not be added.
  static void add(Json& names, const TensorGraph::Tensor& tensor) {
    const std::string name(tensor.name);
    if (!tensor.isOutput && std::find(names.begin(), names.end(), Json(name)) == names.end()) names.push_back(name);
  }

  Result<NpzArrays> values(Json request, std::map<std::string, std::filesystem::path> files) const {
    files.emplace("inputs.npz", m_inputs);
    const ProbeAnswer answer = TRY(m_job.ask({.json = std::move(request), .files = std::move(files)}, m_stop));
    const auto given = answer.files.find("outputs.npz");
    if (given == answer.files.end()) return Diagnostic{.message = "the probe for ONNX Runtime returned no values"};
    return readNpz(given->second);
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
