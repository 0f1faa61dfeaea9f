#include "interchange/network_part.h"

#include <algorithm>

#include "base/name_hints.h"
#include "onnxlib/node_dependence.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;
using Nodes = std::set<std::size_t>;
using Names = std::set<std::string, std::less<>>;

Names capturedBy(const FileGraph& body);

void addReads(const FileNode& node, Names& names) {
  for (const std::string& input : node.inputs)
    if (!input.empty()) names.insert(input);
  for (const auto& attribute : node.attributes)
    if (const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value))
      names.merge(capturedBy(**body));
}

/// What a body reads of the graphs around it.
Names capturedBy(const FileGraph& body) {
  Names read, own;
  for (const auto& input : body.inputs) own.insert(input.name);
  for (const auto& tensor : body.initializers) own.insert(tensor.name);
  for (const FileNode& node : body.nodes) {
    addReads(node, read);
    own.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const auto& output : body.outputs) read.insert(output.name);
  std::erase_if(read, [&](const std::string& name) { return own.contains(name); });
  return read;
}

/// Adds to `nodes`, and to `added`, what `value` is made of: weights and extents alone.
void addMakers(const FileValues& values, const std::string& value, Nodes& nodes, Nodes& added, const PartFacts& facts) {
  std::vector<std::string> open{value};
  while (!open.empty()) {
    const std::ptrdiff_t maker = values.maker(open.back());
    open.pop_back();
    if (maker < 0 || !nodes.insert(static_cast<std::size_t>(maker)).second) continue;
    added.insert(static_cast<std::size_t>(maker));
    for (const std::string& read : values.reads(static_cast<std::size_t>(maker))) {
      const FileValues::Depends depends = values.depends(read);
      if (depends == FileValues::Depends::Weights ||
          (depends == FileValues::Depends::Extents && !facts.isConstant(read)))
        open.push_back(read);
    }
  }
}

/// Makes a part of chosen nodes.
class PartMaker {
 public:
  PartMaker(const FileValues& values, const PartFacts& facts, const Nodes& chosen)
      : m_values(values), m_facts(facts), m_chosen(chosen) {}

  NetworkPart run() {
    addBetween();
    m_part.nodes = m_chosen;
    for (const std::size_t node : m_chosen)
      for (const std::string& read : m_values.reads(node)) addWhatGoesAlong(read);
    Names seen;
    for (const std::size_t node : m_part.nodes)
      for (const std::string& read : m_values.reads(node))
        if (seen.insert(read).second) takeRead(read);
    addOutputs();
    return std::move(m_part);
  }

 private:
  /// Nodes that normalisation removed and that lead from one chosen node to another belong to the part.
  void addBetween() {
    const Nodes behind = removedBehind();
    std::vector<std::size_t> open(m_chosen.begin(), m_chosen.end());
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      for (const std::string& read : m_values.reads(node)) {
        const std::ptrdiff_t maker = m_values.maker(read);
        if (maker < 0 || !behind.contains(static_cast<std::size_t>(maker))) continue;
        if (m_chosen.insert(static_cast<std::size_t>(maker)).second) open.push_back(static_cast<std::size_t>(maker));
      }
    }
  }

  /// The removed nodes that read, through one another, what a chosen node makes.
  Nodes removedBehind() const {
    const auto makesData = [&](std::size_t node) {
      const auto& outputs = m_values.graph().nodes[node].outputs;
      return std::ranges::any_of(
          outputs, [&](const auto& output) { return m_values.depends(output) == FileValues::Depends::Data; });
    };
    Nodes behind;
    std::vector<std::size_t> open(m_chosen.begin(), m_chosen.end());
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      for (const std::string& output : m_values.graph().nodes[node].outputs)
        for (const std::size_t reader : m_values.readers(output))
          if (!m_chosen.contains(reader) && m_facts.isRemoved(reader) && makesData(reader) &&
              behind.insert(reader).second)
            open.push_back(reader);
    }
    return behind;
  }

  void addWhatGoesAlong(const std::string& value) {
    const std::ptrdiff_t maker = m_values.maker(value);
    if (maker < 0 || m_part.nodes.contains(static_cast<std::size_t>(maker))) return;
    const FileValues::Depends depends = m_values.depends(value);
    if (depends == FileValues::Depends::Data) return;
    if (depends == FileValues::Depends::Extents && m_facts.isConstant(value)) return;
    addMakers(m_values, value, m_part.nodes, m_part.constantNodes, m_facts);
  }

  void takeRead(const std::string& value) {
    const std::ptrdiff_t maker = m_values.maker(value);
    if (m_values.isWeight(value) || (maker >= 0 && m_part.nodes.contains(static_cast<std::size_t>(maker)))) return;
    const bool isFrozen = maker >= 0 && m_facts.isConstant(value);
    (isFrozen ? m_part.frozen : m_part.inputs).push_back(value);
  }

  void addOutputs() {
    for (const std::size_t node : m_chosen) {
      const auto& outputs = m_values.graph().nodes[node].outputs;
      const bool isReadByNobody = std::ranges::none_of(outputs, [&](const std::string& output) {
        return m_values.isOutput(output) || !m_values.readers(output).empty();
      });
      for (const std::string& output : outputs) {
        const auto isOutside = [&](std::size_t reader) { return !m_part.nodes.contains(reader); };
        const bool isLeft =
            isReadByNobody || m_values.isOutput(output) || std::ranges::any_of(m_values.readers(output), isOutside);
        if (!output.empty() && isLeft) m_part.outputs.push_back(output);
      }
    }
  }

  const FileValues& m_values;
  const PartFacts& m_facts;
  Nodes m_chosen;
  NetworkPart m_part;
};

/// The nodes of which `to` is made, as far as values in `from` and nodes that `from` has no part in.
Nodes ancestorsOf(const FileValues& values, const std::vector<std::string>& to, const Names& from) {
  Nodes found;
  std::vector<std::string> open = to;
  while (!open.empty()) {
    const std::string value = std::move(open.back());
    open.pop_back();
    const std::ptrdiff_t maker = values.maker(value);
    if (maker < 0 || from.contains(value) || !found.insert(static_cast<std::size_t>(maker)).second) continue;
    for (const std::string& read : values.reads(static_cast<std::size_t>(maker))) open.push_back(read);
  }
  return found;
}

Nodes descendantsOf(const FileValues& values, const std::vector<std::string>& from) {
  Nodes found;
  std::vector<std::string> open = from;
  while (!open.empty()) {
    const std::string value = std::move(open.back());
    open.pop_back();
    for (const std::size_t reader : values.readers(value)) {
      if (!found.insert(reader).second) continue;
      const auto& outputs = values.graph().nodes[reader].outputs;
      open.insert(open.end(), outputs.begin(), outputs.end());
    }
  }
  return found;
}

Status checkKnown(const FileValues& values, const std::vector<std::string>& names, const char* option) {
  for (const std::string& name : names) {
    if (values.isKnown(name)) continue;
    return Diagnostic{.message = "the network has no value of this name",
                      .where = {.value = name, .attribute = option},
                      .help = nearestInWords(name, values.allNames(), "Values are named as in the file.")};
  }
  return Done{};
}

Diagnostic noInput(const FileValues& values, const std::string& name) {
  Diagnostic error{.message = "no node on the way to the values of --to reads it",
                   .where = {.value = name, .attribute = "--from"}};
  if (!values.isWeight(name) && values.depends(name) == FileValues::Depends::Data) return error;
  error.message = "it depends only on weights or extents, so it cannot be an input of the part";
  error.help = "Leave it out of --from: the nodes that calculate it are part of the part that is cut out.";
  return error;
}

Status checkMade(const FileValues& values, const std::vector<std::string>& to, const Nodes& nodes) {
  for (const std::string& name : to) {
    const std::ptrdiff_t maker = values.maker(name);
    if (maker >= 0 && nodes.contains(static_cast<std::size_t>(maker))) continue;
    return Diagnostic{.message = maker < 0 ? "no node makes it: it is an input or a weight of the network"
                                           : "it does not depend on the values of --from",
                      .where = {.value = name, .attribute = "--to"},
                      .help = "Name a value that a node calculates from those of --from."};
  }
  return Done{};
}

}  // namespace

FileValues::FileValues(const FileGraph& graph) : m_graph(graph) {
  for (const auto& tensor : graph.initializers) m_weights.insert(tensor.name);
  for (const auto& input : graph.inputs)
    if (!m_weights.contains(input.name)) m_inputs.insert(input.name);
  for (const auto& output : graph.outputs) m_outputs.insert(output.name);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Names reads;
    addReads(graph.nodes[i], reads);
    for (const std::string& read : reads) m_readers[read].push_back(i);
    // In the order of the operands, then what bodies capture.
    std::vector<std::string>& ordered = m_reads.emplace_back();
    for (const std::string& input : graph.nodes[i].inputs)
      if (reads.erase(input) > 0) ordered.push_back(input);
    ordered.insert(ordered.end(), reads.begin(), reads.end());
    for (const std::string& output : graph.nodes[i].outputs)
      if (!output.empty()) m_makers.emplace(output, i);
  }
  classify();
}

void FileValues::classify() {
  m_dependsOn.assign(m_graph.nodes.size(), Depends::Weights);
  // From data on to all that is made of it, past what only looks at extents.
  std::vector<std::size_t> open;
  const auto mark = [&](std::size_t node, Depends depends) {
    if (depends == Depends::Data && onnxlib::readsExtentsOnly(m_graph.nodes[node])) depends = Depends::Extents;
    if (m_dependsOn[node] >= depends) return;
    m_dependsOn[node] = depends;
    open.push_back(node);
  };
  for (const std::string& input : m_inputs)
    for (const std::size_t reader : readers(input)) mark(reader, Depends::Data);
  for (std::size_t i = 0; i < m_graph.nodes.size(); ++i)
    if (onnxlib::isRandom(m_graph.nodes[i])) mark(i, Depends::Data);
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    for (const std::string& output : m_graph.nodes[node].outputs)
      for (const std::size_t reader : readers(output)) mark(reader, m_dependsOn[node]);
  }
}

std::ptrdiff_t FileValues::maker(const std::string& value) const {
  const auto found = m_makers.find(value);
  return found == m_makers.end() ? -1 : static_cast<std::ptrdiff_t>(found->second);
}

const std::vector<std::size_t>& FileValues::readers(const std::string& value) const {
  static const std::vector<std::size_t> kNone;
  const auto found = value.empty() ? m_readers.end() : m_readers.find(value);
  return found == m_readers.end() ? kNone : found->second;
}

bool FileValues::isKnown(const std::string& value) const {
  return m_makers.contains(value) || m_inputs.contains(value) || m_weights.contains(value);
}

FileValues::Depends FileValues::depends(const std::string& value) const {
  if (m_inputs.contains(value)) return Depends::Data;
  const auto found = m_makers.find(value);
  return found == m_makers.end() ? Depends::Weights : m_dependsOn[found->second];
}

std::vector<std::string> FileValues::allNames() const {
  std::vector<std::string> names(m_inputs.begin(), m_inputs.end());
  for (const auto& [name, maker] : m_makers) names.push_back(name);
  return names;
}

Result<NetworkPart> partOfNodes(const FileValues& values, const Nodes& chosen, const PartFacts& facts) {
  if (chosen.empty())
    return Diagnostic{.message = "no node of the file is chosen",
                      .help = "Nodes that the planner added, such as conversions, are not in the file."};
  return PartMaker(values, facts, chosen).run();
}

Result<NetworkPart> partBetween(const FileValues& values, const std::vector<std::string>& from,
                                const std::vector<std::string>& to, const PartFacts& facts) {
  TRY(checkKnown(values, from, "--from"));
  TRY(checkKnown(values, to, "--to"));
  std::vector<std::string> ends = to;
  if (ends.empty())
    for (const auto& output : values.graph().outputs) ends.push_back(output.name);
  Nodes between = ancestorsOf(values, ends, Names(from.begin(), from.end()));
  if (!from.empty()) {
    const Nodes below = descendantsOf(values, from);
    std::erase_if(between, [&](std::size_t node) { return !below.contains(node); });
  }
  TRY(checkMade(values, to, between));
  if (between.empty() && !from.empty())
    return Diagnostic{.message = "no output of the network depends on it",
                      .where = {.value = from.front(), .attribute = "--from"},
                      .help = "Name the end of the part with --to."};
  NetworkPart part = TRY(partOfNodes(values, between, facts));
  for (const std::string& name : from)
    if (std::ranges::find(part.inputs, name) == part.inputs.end()) return noInput(values, name);
  if (to.empty()) return part;
  part.outputs.clear();
  for (const std::string& name : to)
    if (std::ranges::find(part.outputs, name) == part.outputs.end()) part.outputs.push_back(name);
  return part;
}

NetworkPart partThatMakes(const FileValues& values, const std::vector<std::string>& outputs) {
  const PartFacts none{.isConstant = [](const std::string&) { return false; },
                       .isRemoved = [](std::size_t) { return false; }};
  NetworkPart part = PartMaker(values, none, ancestorsOf(values, outputs, {})).run();
  part.outputs = outputs;
  return part;
}

}  // namespace fusescope
