#include "compilers/probed/marked_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "base/temporary_folder.h"
#include "base/text.h"
#include "compilers/probed/handed_names.h"
#include "interchange/npz.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 30;  ///< size of the values that are kept

/// A value and its name in the handed file.
struct Candidate {
  std::string name, inFile;
  std::vector<DataType> held{};  ///< the types in which kernels write it; Undefined for a type that is not disclosed
};

/// Returns whether a value that kernels write in the type `held` has the same numbers when it is returned in the type
/// `given`.
bool keeps(DataType given, DataType held) {
  return given == held || !isFloat(given) || !isFloat(held) || bitWidth(given) > bitWidth(held);
}

/// Everything that is reported about a kernel that contains nodes.
using KernelFacts = std::tuple<std::vector<std::uint32_t>, std::string, DataType, std::vector<std::string>>;

std::vector<std::string> valueFacts(const ReadBackPlan::Kernel& kernel) {
  std::vector<std::string> facts;
  for (const auto* values : {&kernel.inputs, &kernel.outputs})
    for (const KernelValue& value : *values)
      facts.push_back(fmt::format("{} {} {}", value.value.valid() ? static_cast<std::int64_t>(value.value.index) : -1,
                                  name(value.type), value.format));
  return facts;
}

std::multiset<KernelFacts> kernelFacts(const ReadBackPlan& made) {
  std::multiset<KernelFacts> all;
  for (const FusedNode& fused : made.fusedNodes) {
    if (fused.nodes.empty()) continue;
    std::vector<std::uint32_t> nodes;
    for (const NodeId node : fused.nodes) nodes.push_back(node.index);
    std::ranges::sort(nodes);
    all.emplace(std::move(nodes), fused.kind, fused.compute, valueFacts(made.kernels[fused.id.index]));
  }
  return all;
}

class Marking {
 public:
  Marking(const UnmarkedNetwork& of, std::span<const std::map<std::string, Tensor>> samples, std::int64_t mostBuilds,
          const BuildOptions& options)
      : m_of(of), m_samples(samples), m_mostBuilds(mostBuilds), m_options(options), m_kernels(kernelFacts(of.made)) {}

  Result<MarkedValues> run() {
    m_made.samples.resize(m_samples.size());
    std::vector<Candidate> all = candidates();
    m_folder.emplace(TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope.marks")));
    if (all.empty()) return std::move(m_made);
    Status status = begin();
    if (status.ok()) status = mark(all);
    if (!status.ok() && status.error().cancelled) return status.error();
    if (!status.ok())
      for (const Candidate& each : all) refuse(each, status.error().text());
    if (m_job != nullptr && m_job->isThere()) m_of.compiler.giveBack(std::move(m_job));
    return std::move(m_made);
  }

 private:
  /// Returns the values that kernels write to memory and that are no outputs of the network, in the order of the
  /// kernels.
  std::vector<Candidate> candidates() const {
    const Graph& graph = m_of.network.plan->graph();
    std::map<ValueId, std::string> inFile;
    for (const onnxlib::FileNode& node : m_of.network.file.graph.nodes) {
      const auto known = m_of.network.nodes.find(node.name);
      if (known == m_of.network.nodes.end() || known->second.empty()) continue;
      for (const std::string& output : node.outputs)
        if (const auto value = m_of.network.values.find(output); value != m_of.network.values.end())
          inFile.emplace(value->second, output);
    }
    std::vector<Candidate> all;
    std::map<ValueId, std::size_t> seen;
    for (const ReadBackPlan::Kernel& kernel : m_of.made.kernels)
      for (const KernelValue& output : kernel.outputs) {
        const ValueId value = output.value;
        if (!value.valid() || graph.isOutput(value) || graph.isConstant(value)) continue;
        const auto known = inFile.find(value);
        if (known == inFile.end()) continue;
        const auto [at, isNew] = seen.emplace(value, all.size());
        if (isNew) all.push_back({graph.value(value).name, known->second});
        all[at->second].held.push_back(output.type);
      }
    return all;
  }

  /// Compiles and runs the network without marks, for comparison.
  Status begin() {
    TRY(compile({}));
    for (std::size_t i = 0; i < m_samples.size(); ++i) {
      const auto path = *m_folder / fmt::format("inputs_{}.npz", i);
      TRY(writeHandedInputs(m_of.inputs, m_samples[i], path));
      m_inputs.push_back(path);
      m_outputs.push_back(TRY(runOn(path)));
    }
    return Done{};
  }

  Result<ReadBack> compile(const std::vector<Candidate>& marked) {
    if (m_job == nullptr || !m_job->isThere()) m_job = TRY(m_of.compiler.takeJob(m_options.stop));
    Json names = Json::array();
    for (const Candidate& each : marked) names.push_back(each.inFile);
    ++m_made.builds;
    if (m_options.progress) m_options.progress("mark", counted(std::ssize(marked), "tensor"));
    const ProbeAnswer compiled = TRY(m_job->ask(
        {.json = {{"op", "compile"}, {"options", m_of.options}, {"mark", names}}, .files = filesOf(m_of.network)},
        m_options.stop));
    return m_of.compiler.kind().readBack(m_of.network, compiled);
  }

  Result<NpzArrays> runOn(const std::filesystem::path& inputs) {
    const ProbeAnswer answer =
        TRY(m_job->ask({.json = {{"op", "run"}}, .files = {{"inputs.npz", inputs}}}, m_options.stop));
    const auto file = answer.files.find("outputs.npz");
    if (file == answer.files.end()) return Diagnostic{.message = "the probe returned no outputs"};
    return readNpz(file->second);
  }

  /// Marks the values of the batch. If that changes kernels, each half is tried separately, the first half first.
  Status mark(const std::vector<Candidate>& batch) {
    TRY(checkStop(m_options.stop));
    if (m_made.builds >= m_mostBuilds || m_bytes > kMostBytes) {
      const std::string why = m_bytes > kMostBytes ? "the values that were recorded before already take too much memory"
                                                   : fmt::format("it was not reached within {} builds", m_mostBuilds);
      for (const Candidate& each : batch) refuse(each, why);
      return Done{};
    }
    auto why = tried(batch);
    if (!why.ok() && why.error().cancelled) return why.error();
    const std::string text = why.ok() ? why.value() : inNamesOfNetwork(m_of.network, why.error().message);
    if (text.empty()) return Done{};
    if (batch.size() == 1) {
      refuse(batch.front(), text);
      return Done{};
    }
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    TRY(mark({batch.begin(), middle}));
    return mark({middle, batch.end()});
  }

  /// Returns why the batch cannot be marked. If the text is empty, its values have been recorded.
  Result<std::string> tried(const std::vector<Candidate>& batch) {
    const auto made = TRY(readBackPlan(m_of.network.plan, TRY(compile(batch))));
    if (kernelFacts(*made) != m_kernels) return std::string("other kernels run if it is made an output");
    std::vector<NpzArrays> given;
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
      given.push_back(TRY(runOn(m_inputs[i])));
      for (const auto& [name, tensor] : m_outputs[i]) {
        const auto again = given.back().find(name);
        if (again == given.back().end() || !isSame(again->second, tensor))
          return std::string("the outputs change if it is made an output");
      }
    }
    for (std::size_t i = 0; i < given.size(); ++i)
      for (const Candidate& each : batch) {
        const auto tensor = given[i].find(each.inFile);
        if (tensor == given[i].end()) return std::string("the compiler did not return this output");
        if (const std::string why = whyOtherwise(each, tensor->second.type()); !why.empty()) {
          refuse(each, why);
          continue;
        }
        m_bytes += tensor->second.byteSize();
        m_made.samples[i].insert_or_assign(each.name, std::move(tensor->second));
      }
    return std::string();
  }

  /// Returns why a value that is returned in this type is not the value between the kernels: as an output it is
  /// rounded, and between the kernels it is not. Returns an empty text if they are equal.
  static std::string whyOtherwise(const Candidate& candidate, DataType given) {
    const auto isKept = [&](DataType held) { return held == DataType::Undefined || keeps(given, held); };
    if (candidate.held.empty() || std::ranges::any_of(candidate.held, isKept)) return {};
    return fmt::format("its type there is {}, and it is rounded to {} only if it is made an output",
                       name(candidate.held.front()), name(given));
  }

  static bool isSame(const Tensor& a, const Tensor& b) {
    return a.type() == b.type() && a.byteSize() == b.byteSize() && std::memcmp(a.bytes(), b.bytes(), a.byteSize()) == 0;
  }

  void refuse(const Candidate& candidate, const std::string& why) { m_made.whyNot.emplace(candidate.name, why); }

  const UnmarkedNetwork& m_of;
  const std::span<const std::map<std::string, Tensor>> m_samples;
  const std::int64_t m_mostBuilds;
  const BuildOptions& m_options;
  const std::multiset<KernelFacts> m_kernels;
  std::optional<TemporaryFolder> m_folder;
  std::unique_ptr<ProbeJob> m_job;
  std::vector<std::filesystem::path> m_inputs;
  std::vector<NpzArrays> m_outputs;
  std::size_t m_bytes = 0;
  MarkedValues m_made;
};

}  // namespace

Result<MarkedValues> markedValues(const UnmarkedNetwork& of, std::span<const std::map<std::string, Tensor>> samples,
                                  std::int64_t mostBuilds, const BuildOptions& options) {
  return Marking(of, samples, mostBuilds, options).run();
}

}  // namespace fusescope
