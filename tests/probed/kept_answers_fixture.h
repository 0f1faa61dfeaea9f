#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/probed/tally_fixture.h"

namespace fusescope::test {

/// A cache folder of its own, and a Python in which tally is an installed package, so that its answers are kept.
class KeptAnswers : public Tally {
 protected:
  KeptAnswers() {
    if (const char* set = std::getenv("FUSESCOPE_CACHE")) m_before = set;
    ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1);
    std::filesystem::copy(FUSESCOPE_SOURCE_DIR "/tests/probed/python", packages());
    const std::filesystem::path about = packages() / "tally-1.5.dist-info";
    std::filesystem::create_directories(about);
    std::ofstream(about / "METADATA") << "Metadata-Version: 2.1\nName: tally\nVersion: 1.5\n";
    std::ofstream(about / "RECORD") << "fusescope_compiler_tally.py,,\ntally-1.5.dist-info/METADATA,,\n";
    plantHere();
  }
  ~KeptAnswers() override { ::setenv("FUSESCOPE_CACHE", m_before.c_str(), 1); }

  std::filesystem::path packages() const { return m_folder / "packages"; }
  /// `more`: assignments for the command of the Python.
  void plantHere(const std::string& more = "") const {
    const std::string command =
        "env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + packages().string() + " " + more + " python3";
    ::setenv("FUSESCOPE_PYTHON", command.c_str(), 1);
  }
  Json plan(std::vector<std::string> more = {}, const char* text = kNetwork) const {
    std::vector<std::string> arguments{"plan", network(text), "--compiler", "tally"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  }
  static bool isFound(const Json& plan) { return !entryOf(plan["decisions"], "code", "cache.found").is_null(); }
  static Json kept() { return json({"cache", "list"}); }
  /// For failures: what is kept, what the plan says, and what the keys are made of now.
  std::string said(const Json& plan) const {
    return kept().dump(1) + plan["decisions"].dump(1) +
           command({"cache", "why", network(), "--compiler", "tally", "--json"}).out;
  }
  static std::int64_t answersKept() {
    std::int64_t count = 0;
    const Json list = kept();
    for (const Json& entry : list["entries"]) count += entry["kind"] == "answer" ? 1 : 0;
    return count;
  }

 private:
  std::string m_before;
};

}  // namespace fusescope::test
