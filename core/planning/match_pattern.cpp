#include <algorithm>
#include <regex>

#include "base/text.h"
#include "planning/directive.h"

namespace fusescope {

namespace {

enum class PatternForm { Name, Glob, Regex, Operator };

PatternForm formOf(std::string_view pattern) {
  if (pattern.starts_with("op:")) return PatternForm::Operator;
  if (pattern.size() > 1 && pattern.front() == '/' && pattern.back() == '/') return PatternForm::Regex;
  if (pattern.find_first_of("*?") != std::string_view::npos) return PatternForm::Glob;
  return PatternForm::Name;
}

/// The names a node answers to: its own and those of the nodes of the file that it stands for.
template <class Test>
bool anyNameMatches(const Node& node, const std::vector<std::string>& originNames, const Test& test) {
  if (test(node.name)) return true;
  return std::any_of(node.origins.begin(), node.origins.end(), [&](OriginId origin) {
    return origin.index < originNames.size() && test(originNames[origin.index]);
  });
}

template <class Test>
std::vector<NodeId> nodesWith(const Graph& graph, const Test& test) {
  std::vector<NodeId> matched;
  for (NodeId id : graph.order()) {
    if (test(graph.node(id))) matched.push_back(id);
  }
  return matched;
}

template <class Test>
std::vector<NodeId> nodesNamed(const Graph& graph, const std::vector<std::string>& originNames, const Test& test) {
  return nodesWith(graph, [&](const Node& node) { return anyNameMatches(node, originNames, test); });
}

Diagnostic nothingMatches(const Graph& graph, std::string_view pattern, PatternForm form) {
  std::vector<std::string> candidates;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    candidates.push_back(form == PatternForm::Operator ? "op:" + node.op : node.name);
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  const std::vector<std::string> nearest = nearestNames(pattern, candidates);
  return {.message = "the pattern '" + std::string(pattern) + "' matches no node",
          .where = {.attribute = std::string(pattern)},
          .help = nearest.empty() ? "The graph has no nodes." : "Nearest: " + joined(nearest) + "."};
}

Result<std::regex> compileRegex(std::string_view pattern) {
  try {
    return std::regex(std::string(pattern.substr(1, pattern.size() - 2)), std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return Diagnostic{.message = "'" + std::string(pattern) + "' is not a regular expression: " + error.what(),
                      .where = {.attribute = std::string(pattern)}};
  }
}

}  // namespace

Result<std::vector<NodeId>> matchPattern(const Graph& graph, const std::vector<std::string>& originNames,
                                         std::string_view pattern) {
  // A name is tried first whatever the pattern looks like: ONNX names may start and end with '/' or hold '*'.
  std::vector<NodeId> matched =
      nodesNamed(graph, originNames, [&](const std::string& candidate) { return candidate == pattern; });
  if (!matched.empty()) return matched;
  const PatternForm form = formOf(pattern);
  switch (form) {
    case PatternForm::Name:
      break;
    case PatternForm::Operator:
      matched = nodesWith(graph, [&](const Node& node) { return node.op == pattern.substr(3); });
      break;
    case PatternForm::Glob:
      matched = nodesNamed(graph, originNames, [&](const std::string& text) { return matchesGlob(pattern, text); });
      break;
    case PatternForm::Regex: {
      const std::regex regex = TRY(compileRegex(pattern));
      matched = nodesNamed(graph, originNames, [&](const std::string& text) { return std::regex_search(text, regex); });
      break;
    }
  }
  if (matched.empty()) return nothingMatches(graph, pattern, form);
  return matched;
}

}  // namespace fusescope
