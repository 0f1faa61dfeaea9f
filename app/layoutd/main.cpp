#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "base/json.h"
#include "layout/level.h"

namespace {

constexpr int kOutputGone = 1, kBadLine = 2;  ///< exit statuses

/// Graphviz works on for as long as it takes, whoever is still there: once nobody can read the output, the process
/// ends.
void endWithWhoeverReads() {
  pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  while (::poll(&output, 1, -1) < 0 && errno == EINTR) continue;
  if ((output.revents & POLLERR) != 0) std::_Exit(kOutputGone);
}

int answerLines() {
  using namespace fusescope;
  for (std::string line; std::getline(std::cin, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      std::cerr << "fusescope-layoutd: the input is not JSON\n";
      return kBadLine;
    }
    const Result<LevelGraph> graph = levelGraphFromJson(json);
    if (!graph.ok()) {
      std::cerr << "fusescope-layoutd: " << graph.error().text() << '\n';
      return kBadLine;
    }
    const std::optional<LevelLayout> layout = layOutWithDot(graph.value());
    std::cout << (layout ? toJson(*layout) : Json()).dump() << std::endl;
    if (!std::cout.good()) return kOutputGone;
  }
  return 0;
}

}  // namespace

// The layout helper: a LevelGraph as JSON on each line of standard input, its LevelLayout as JSON on a line of standard
// output; "null" if Graphviz could not place it. It is a process of its own because Graphviz can neither be stopped nor
// be called from two threads; whoever started it kills it, or just goes. Exit status: 0 the input ended, 1 the output
// is gone, 2 a line is not a LevelGraph (the message is on standard error).
int main() {
  std::thread(endWithWhoeverReads).detach();
  std::_Exit(answerLines());
}
