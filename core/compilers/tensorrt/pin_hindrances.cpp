#include "compilers/tensorrt/pin_hindrances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "frontends/tensorrt/layer_list.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Returns "obey" for "--precisionConstraints=obey" in a command of trtexec; empty if the option is missing or has no
/// value.
std::string optionValue(std::string_view option, const std::string& command) {
  for (const std::string& word : split(command, ' '))
    if (word.starts_with(option) && word.size() > option.size() && word[option.size()] == '=')
      return word.substr(option.size() + 1);
  return {};
}

bool isOptionGiven(std::string_view option, const std::string& command) {
  const std::vector<std::string> words = split(command, ' ');
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word == option || (word.starts_with(option) && word[option.size()] == '=');
  });
}

/// The first version of trtexec and of the API without types of layers.
constexpr int kFirstWithoutLayerTypes = 11;

class HindranceFinder {
 public:
  HindranceFinder(const CompilerInput& network, const EngineLog& log)
      : m_network(network), m_log(log), m_constraints(constraints()) {
    for (const std::string& layers : log.typesIgnored)
      for (const std::string& name : nodesInMessage(layers))
        for (const NodeId node : nodesOf(name)) m_withoutTactic.emplace(node, layers);
    for (const EngineLog::TypeSet& set : log.typesSet) {
      const auto known = log.nodeOfLayer.find(set.layer);
      for (const NodeId node : nodesOf(known == log.nodeOfLayer.end() ? set.layer : known->second))
        m_set.emplace(node, dataTypeFromName(set.type).value_or(DataType::Undefined));
    }
    for (const auto& [layer, name] : log.nodeOfLayer)
      for (const NodeId node : nodesOf(name)) m_layers[node].push_back(layer);
    for (const std::string& word : split(log.precision, '+')) m_allowed.insert(listedType(word));
  }

  std::map<NodeId, PinHindrance> run() const {
    std::map<NodeId, PinHindrance> found;
    for (const PrecisionGrant& grant : m_network.plan->precisionMap)
      if (grant.asked != DataType::Undefined)
        if (auto hindrance = of(grant.node, grant.asked)) found.emplace(grant.node, std::move(*hindrance));
    return found;
  }

 private:
  std::set<NodeId> nodesOf(std::string_view fileNode) const {
    const auto nodes = m_network.nodes.find(fileNode);
    return nodes == m_network.nodes.end() ? std::set<NodeId>()
                                          : std::set<NodeId>(nodes->second.begin(), nodes->second.end());
  }

  /// The log of a program other than trtexec and Fusescope contains no command, so that nothing is known about it.
  std::string constraints() const {
    if (!m_log.constraints.empty()) return m_log.constraints;
    const std::string given = optionValue("--precisionConstraints", m_log.command);
    return given.empty() ? "none" : given;
  }

  bool isStronglyTyped() const {
    const int major = std::atoi(m_log.version.c_str());
    return major >= kFirstWithoutLayerTypes || isOptionGiven("--stronglyTyped", m_log.command);
  }

  std::optional<PinHindrance> of(NodeId node, DataType asked) const {
    if (const auto known = m_withoutTactic.find(node); known != m_withoutTactic.end())
      return PinHindrance{
          PinCause::NoTactic,
          fmt::format("The log says: no implementation of layer {} obeys the requested constraints.", known->second)};
    const bool isFloatBesidesF32 = isFloat(asked) && asked != DataType::F32;
    if (isFloatBesidesF32 && !isStronglyTyped() && !m_log.precision.empty() && !m_allowed.contains(asked))
      return PinHindrance{PinCause::TypeNotEnabled, fmt::format("The log says: Precision: {}.", m_log.precision)};
    const bool isSet = m_set.contains({node, asked});
    if (!isSet && isStronglyTyped()) return inStronglyTyped(node, asked);
    if (!isSet && !m_log.command.empty()) return PinHindrance{PinCause::NotApplied, whyNotSet(node)};
    if (isSet && m_constraints == "prefer")
      return PinHindrance{PinCause::OnlyPreferred,
                          "The build was configured to prefer the types of layers, not to obey them."};
    return std::nullopt;
  }

  /// The network may contain the type itself, for example if it was exported with its pins.
  std::optional<PinHindrance> inStronglyTyped(NodeId node, DataType asked) const {
    const Graph& graph = m_network.plan->graph();
    const bool hasType = std::ranges::any_of(graph.node(node).outputs, [&](ValueId value) {
      return value.valid() && graph.value(value).type.dtype == asked;
    });
    if (hasType) return std::nullopt;
    return PinHindrance{PinCause::NotApplied,
                        "The network was built as strongly typed: the types in the network are used, and types that "
                        "are set for layers are ignored. Write the type into the network: fusescope export --to onnx."};
  }

  std::string whyNotSet(NodeId node) const {
    if (!isOptionGiven("--layerPrecisions", m_log.command)) return "The command of the build has no --layerPrecisions.";
    if (m_constraints == "none")
      return "trtexec leaves --layerPrecisions out unless --precisionConstraints is obey or prefer.";
    const auto layers = m_layers.find(node);
    return fmt::format(
        "The log has no line that sets a type of it: --layerPrecisions must name layers as TensorRT's parser calls "
        "them{}.",
        layers == m_layers.end() ? std::string() : ", here " + joined(layers->second));
  }

  const CompilerInput& m_network;
  const EngineLog& m_log;
  std::string m_constraints;
  std::map<NodeId, std::string> m_withoutTactic;  ///< the layer that the message names
  std::set<std::pair<NodeId, DataType>> m_set;
  std::map<NodeId, std::vector<std::string>> m_layers;
  std::set<DataType> m_allowed;
};

}  // namespace

std::map<NodeId, PinHindrance> pinHindrances(const CompilerInput& network, const EngineLog& log) {
  return HindranceFinder(network, log).run();
}

std::vector<std::string> nodesInMessage(std::string_view layers) {
  std::vector<std::string> names;
  for (std::string_view rest = layers; !rest.empty();) {
    const std::size_t end = std::min(rest.find(" + "), rest.size());
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 3, rest.size()));
    if (name.ends_with(']')) name = name.substr(0, name.rfind('['));
    names.emplace_back(name);
  }
  return names;
}

}  // namespace fusescope
