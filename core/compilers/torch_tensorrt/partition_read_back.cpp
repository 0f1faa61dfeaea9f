#include "compilers/torch_tensorrt/partition_read_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "compilers/torch/tied_nodes.h"
#include "ir/graph.h"

namespace fusescope::torch_tensorrt {
namespace {

using torch_compiler::KnownNodes;

constexpr std::string_view kF64 = "f64";
/// Selects one of several tensors; Torch-TensorRT does not count this among the operators that stay in torch.
constexpr std::string_view kTaken = "getitem";

bool hasDoubles(const LoweredOperator& each) {
  return std::ranges::count(each.types, kF64) > 0 || std::ranges::count(each.reads, kF64) > 0;
}

/// Returns ": dtype torch.float64 is refused"; empty if there are no words.
std::string behindColon(const std::vector<std::string>& words) {
  return words.empty() ? std::string() : ": " + joined(words, " ");
}

/// Returns the type in which an engine reads an input.
DataType readType(const BlockInput& input) {
  return input.isCast ? DataType::F32 : dataTypeFromName(input.type).value_or(DataType::Undefined);
}

class Reading {
 public:
  Reading(const CompilerInput& network, const torch_compiler::ProgramFacts& program,
          const torch_compiler::ProgramNetwork& tied, const ProgramPartition& partition, const AskedPartition& asked)
      : m_graph(network.plan->graph()),
        m_by(network.plan->options.compiler),
        m_tied(tied),
        m_partition(partition),
        m_asked(asked) {
    for (std::size_t i = 0; i < program.nodes.size(); ++i) {
      const auto& node = program.nodes[i];
      if (node.within.empty())
        m_places.insert_or_assign(node.origin.name, i);
      else
        m_places.emplace(node.origin.name, i);
    }
  }

  ReadBack run() {
    recordCounts();
    for (const PartitionBlock& block : m_partition.blocks)
      if (block.isEngine)
        addEngine(block);
      else
        addBlockInTorch(block);
    setFates();
    return std::move(m_readBack);
  }

 private:
  void record(std::string_view code, const KnownNodes& nodes, DecisionArguments arguments) {
    std::vector<Subject> subjects;
    for (const NodeId node : m_graph.order())
      if (nodes.contains(node)) subjects.push_back(Subject::node(m_graph.node(node).name));
    m_readBack.decisions.push_back(decide(code, std::move(subjects), m_by, std::move(arguments)));
  }

  KnownNodes nodesFrom(const std::string& programNode) const {
    const auto place = m_places.find(programNode);
    return place == m_places.end() ? KnownNodes() : m_tied.nodes[place->second];
  }

  void recordCounts() {
    std::int64_t engines = 0, inTorch = 0;
    for (const PartitionBlock& block : m_partition.blocks) {
      engines += block.isEngine ? 1 : 0;
      if (!block.isEngine)
        inTorch += std::ranges::count_if(block.operators, [](const auto& each) { return each.target != kTaken; });
    }
    record("build.program_divided", {},
           {{"compiler", kTitle},
            {"total", m_partition.total},
            {"supported", m_partition.supported},
            {"engines", engines},
            {"in_torch", inTorch}});
  }

  void addEngine(const PartitionBlock& block) {
    KnownNodes nodes;
    for (const LoweredOperator& each : block.operators)
      torch_compiler::addAll(nodesFrom(each.from), Certainty::Named, nodes);
    ReadBackKernel kernel{.name = block.name, .kind = "engine"};
    kernel.nodes.assign(nodes.begin(), nodes.end());
    kernel.region = block.name;
    for (const BlockInput& input : block.inputs)
      kernel.inputs.push_back({.value = valueOf(input), .type = readType(input), .format = {}});
    for (const ValueId value : torch_compiler::outputsOf(m_graph, nodes))
      kernel.outputs.push_back({.value = value, .format = {}});
    m_readBack.kernels.push_back(std::move(kernel));
    record("build.engine_as_a_whole", nodes, {{"engine", block.name}, {"operators", std::ssize(block.operators)}});
    for (const BlockInput& input : block.inputs)
      if (input.isCast)
        addCast(block, input);
      else if (input.type == kF64)
        recordInput("build.engine_reads_double", input, {{"compiler", kTitle}, {"engine", block.name}});
    if (m_asked.truncatesDouble) return;
    for (const LoweredOperator& each : block.operators)
      if (hasDoubles(each))
        record("build.engine_of_doubles", nodesFrom(each.from),
               {{"compiler", kTitle}, {"engine", block.name}, {"operator", each.target}});
  }

  void addCast(const PartitionBlock& block, const BlockInput& input) {
    m_readBack.conversions.push_back(
        {.value = valueOf(input), .from = input.type, .to = "f32", .isCast = true, .kernel = block.name});
    recordInput("build.truncates_double", input, {{"compiler", kTitle}, {"engine", block.name}, {"type", input.type}});
  }

  void recordInput(std::string_view code, const BlockInput& input, DecisionArguments arguments) {
    std::vector<Subject> subjects;
    std::string name = input.from;
    if (const ValueId value = valueOf(input); value.valid()) {
      name = m_graph.value(value).name;
      subjects.push_back(Subject::value(name));
    }
    arguments["input"] = name;
    m_readBack.decisions.push_back(decide(code, std::move(subjects), m_by, std::move(arguments)));
  }

  /// Returns the value of the network; invalid if none is known to be this input.
  ValueId valueOf(const BlockInput& input) const {
    if (input.isInput) {
      const auto value = m_graph.findValue(input.from);
      return value && std::ranges::count(m_graph.inputs(), *value) > 0 ? *value : ValueId();
    }
    const auto values = torch_compiler::outputsOf(m_graph, nodesFrom(input.from));
    return values.size() == 1 ? values.front() : ValueId();
  }

  void addBlockInTorch(const PartitionBlock& block) {
    for (const LoweredOperator& each : block.operators) {
      const KnownNodes nodes = nodesFrom(each.from);
      if (each.isView) {
        for (const auto& [node, certainty] : nodes) m_views.insert(node);
      } else {
        m_readBack.kernels.push_back(
            torch_compiler::operatorKernel(each.name, each.target, each.types, nodes, m_graph));
      }
      if (each.inTorch) recordReason(each, *each.inTorch, nodes);
    }
  }

  void recordReason(const LoweredOperator& each, const InTorch& why, const KnownNodes& nodes) {
    DecisionArguments arguments{{"compiler", kTitle}, {"operator", each.target}};
    switch (why.why) {
      case StaysFor::NoConverter:
        return record("build.torch_no_converter", nodes, std::move(arguments));
      case StaysFor::Validator:
        arguments["validators"] = joined(why.validators, " and ");
        arguments["words"] = behindColon(why.words);
        record("build.torch_validator", nodes, std::move(arguments));
        if (why.compared) recordComparison(each, why, nodes);
        return;
      case StaysFor::OpenExtents:
        return record("build.torch_open_extents", nodes, std::move(arguments));
      case StaysFor::Complex:
        return record("build.torch_complex", nodes, std::move(arguments));
      case StaysFor::Asked:
        return record("build.torch_asked", nodes, std::move(arguments));
      case StaysFor::SmallBlock:
        arguments["operators"] = why.operators;
        arguments["least"] = m_asked.leastOperators;
        return record("build.torch_small_block", nodes, std::move(arguments));
      case StaysFor::Unknown:
        return record("build.torch_unknown", nodes, std::move(arguments));
    }
  }

  void recordComparison(const LoweredOperator& each, const InTorch& why, const KnownNodes& nodes) {
    const std::string otherwise =
        why.compared->acceptedWithNumber
            ? std::string("With the number 1 in its place, the same validator accepts the operator")
            : "With the number 1 in its place, the same validator still rejects the operator" +
                  behindColon(why.compared->elseWords);
    record("build.torch_compares_list", nodes,
           {{"operator", each.target},
            {"validators", joined(why.validators, " and ")},
            {"dilation", fmt::format("[{}]", fmt::join(why.compared->dilation, ", "))},
            {"otherwise", otherwise}});
  }

  void setFates() {
    std::set<NodeId> held;
    for (const ReadBackKernel& kernel : m_readBack.kernels)
      for (const auto& [node, certainty] : kernel.nodes) held.insert(node);
    for (const NodeId node : m_views)
      if (!held.contains(node)) m_readBack.fates.emplace(node, Fate::View);
    for (const auto& [programNode, fate] : m_partition.gone)
      for (const auto& [node, certainty] : nodesFrom(programNode))
        if (!held.contains(node)) m_readBack.fates.emplace(node, fate);
  }

  const Graph& m_graph;
  const Cause m_by;
  const torch_compiler::ProgramNetwork& m_tied;
  const ProgramPartition& m_partition;
  const AskedPartition& m_asked;
  std::map<std::string, std::size_t, std::less<>> m_places;  ///< the indexes of the program's nodes, by name
  std::set<NodeId> m_views;
  ReadBack m_readBack;
};

}  // namespace

ReadBack partitionReadBack(const CompilerInput& network, const torch_compiler::ProgramFacts& program,
                           const torch_compiler::ProgramNetwork& tied, const ProgramPartition& partition,
                           const AskedPartition& asked) {
  ReadBack readBack = Reading(network, program, tied, partition, asked).run();
  torch_compiler::addUntiedDecisions(network, tied, kTitle, readBack);
  return readBack;
}

}  // namespace fusescope::torch_tensorrt
