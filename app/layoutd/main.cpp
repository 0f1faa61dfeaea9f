#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "layout/layout.h"

// The layout helper: one LayoutGraph as JSON on standard input, its LayoutGeometry as JSON on standard output. It is a
// process of its own because Graphviz can neither be stopped nor be called from two threads; whoever started it kills
// it. Exit status: 0 done, 2 the input is not a LayoutGraph (the message is on standard error).
int main() {
  using namespace fusescope;
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    std::cerr << "fusescope-layoutd: the input is not JSON\n";
    return 2;
  }
  const Result<LayoutGraph> graph = layoutGraphFromJson(json);
  if (!graph.ok()) {
    std::cerr << "fusescope-layoutd: " << graph.error().text() << '\n';
    return 2;
  }
  const Result<LayoutGeometry> geometry = layoutGraphviz(graph.value());
  if (!geometry.ok()) {
    std::cerr << "fusescope-layoutd: " << geometry.error().text() << '\n';
    return 2;
  }
  std::cout << toJson(geometry.value()).dump() << '\n';
  return std::cout.good() ? 0 : 1;
}
