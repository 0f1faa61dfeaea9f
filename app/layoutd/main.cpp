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

constexpr int kOutputGone = 1, kBadLine = 2;  ///< the exit statuses

/// Ends the process as soon as nobody can read its output. Without this, Graphviz would continue for as long as the
/// layout takes.
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

// The layout helper. It reads a LevelGraph as JSON from each line of standard input, and writes its LevelLayout as JSON
// to a line of standard output, or "null" if Graphviz could not place it. It is a process of its own, because Graphviz
// can neither be stopped nor be called from two threads; the process that started it kills it or simply ends. The exit
// status is 0 if the input ended, 1 if the output was closed, and 2 if a line is not a LevelGraph (the message is on
// standard error).
int main() {
  std::thread(endWithWhoeverReads).detach();
  std::_Exit(answerLines());
}
