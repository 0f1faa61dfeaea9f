#include "compilers/probed/handed_names.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "ir/graph.h"

namespace fusescope {
namespace {

bool isDigit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}
bool isOfWord(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// Returns "n12" for "n12" and for "n12_0", or an empty text if the word does not begin with the number of a node or
/// value.
std::string_view numberIn(std::string_view word) {
  if (word.size() < 2 || (word[0] != 'n' && word[0] != 'v')) return {};
  const std::size_t end = std::min(word.find('_'), word.size());
  return end > 1 && std::all_of(word.begin() + 1, word.begin() + end, isDigit) ? word.substr(0, end)
                                                                               : std::string_view();
}

Mention resolve(const CompilerInput& network, std::string_view number) {
  if (const auto node = network.nodes.find(number); node != network.nodes.end() && !node->second.empty())
    return {.node = node->second.front(), .value = {}};
  if (const auto value = network.values.find(number); value != network.values.end())
    return {.node = {}, .value = value->second};
  return {};
}

/// Returns the name that the plan uses, or else the name in the file; null if neither knows the number.
const std::string* nameOf(const CompilerInput& network, const Mention& mention, std::string_view number) {
  const Graph& graph = network.plan->graph();
  if (mention.node.valid()) return &graph.node(mention.node).name;
  if (mention.value.valid()) return &graph.value(mention.value).name;
  const auto inFile = network.namesInFile.find(number);
  return inFile == network.namesInFile.end() ? nullptr : &inFile->second;
}

/// Calls `take` with each piece of the text in order. A piece is a word, or a single character between words.
void forWords(std::string_view text, const std::function<void(std::string_view)>& take) {
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), isOfWord) - text.begin();
    const std::size_t length = std::max<std::size_t>(static_cast<std::size_t>(end), 1);
    take(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace

std::vector<Mention> mentionsIn(const CompilerInput& network, std::string_view text) {
  std::vector<Mention> all;
  forWords(text, [&](std::string_view word) {
    const Mention mention = resolve(network, numberIn(word));
    const auto isSame = [&](const Mention& other) {
      return other.node == mention.node && other.value == mention.value;
    };
    if ((mention.node.valid() || mention.value.valid()) && std::ranges::none_of(all, isSame)) all.push_back(mention);
  });
  return all;
}

std::string inNamesOfNetwork(const CompilerInput& network, std::string_view text) {
  std::string made;
  forWords(text, [&](std::string_view word) {
    const std::string_view number = numberIn(word);
    const Mention mention = resolve(network, number);
    if (const std::string* name = nameOf(network, mention, number); name != nullptr) {
      made += *name;
      word.remove_prefix(number.size());
    }
    made += word;
  });
  return made;
}

}  // namespace fusescope
