#include <iostream>
#include <string>

#include "layout/level.h"

// The layout helper: a LevelGraph as JSON on each line of standard input, its LevelLayout as JSON on a line of standard
// output; "null" if Graphviz could not place it. It is a process of its own because Graphviz can neither be stopped nor
// be called from two threads; whoever started it kills it. Exit status: 0 the input ended, 1 the output is gone, 2 a
// line is not a LevelGraph (the message is on standard error).
int main() {
  using namespace fusescope;
  for (std::string line; std::getline(std::cin, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      std::cerr << "fusescope-layoutd: the input is not JSON\n";
      return 2;
    }
    const Result<LevelGraph> graph = levelGraphFromJson(json);
    if (!graph.ok()) {
      std::cerr << "fusescope-layoutd: " << graph.error().text() << '\n';
      return 2;
    }
    const std::optional<LevelLayout> layout = layOutWithDot(graph.value());
    std::cout << (layout ? toJson(*layout) : Json()).dump() << std::endl;
    if (!std::cout.good()) return 1;
  }
  return 0;
}
