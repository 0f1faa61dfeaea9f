#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "session/artifact.h"
#include "tests/compilers/processes.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace fusescope::test {

/// What FUSESCOPE_TEST_ABACUS plants, as long as this is there.
class PlantedFault {
 public:
  explicit PlantedFault(const std::string& fault);
  ~PlantedFault();
  PlantedFault(const PlantedFault&) = delete;
  PlantedFault& operator=(const PlantedFault&) = delete;
};

/// A test that has a folder for its files, and for temporary ones another: when it ends, nothing may be left there, and
/// no process of abacus may be left that was started below it.
class AddedCompiler : public ::testing::Test {
 public:
  AddedCompiler();
  ~AddedCompiler() override;

  std::string file(std::string_view name) const { return m_folder / name; }
  std::string temporaryFolder() const { return m_temporary.path().string(); }
  /// kEveryFate in a file; its path.
  std::string everyFate() const;

  /// Runs the product's `fusescope` that has abacus in its list.
  static ProcessResult command(std::vector<std::string> arguments);
  /// What a command prints that must succeed.
  static Json json(std::vector<std::string> arguments);
  static std::string sample(std::string_view network);
  static std::string arrays(std::string_view network);

  /// Opened in this process, to be compiled by abacus; fails the test where that cannot be.
  static Artifact opened(const std::string& path, PlanOptions options = {});

  /// The processes of abacus that were started below this test, also those that ended and that nobody waited for.
  std::set<pid_t> processes() const { return abacusProcesses(temporaryFolder()); }
  /// Waits until `holds`, as long as it takes within reason; false: it did not come.
  static bool comes(const std::function<bool()>& holds);

 private:
  TemporaryFolder m_folder, m_temporary;
};

/// The entry of a list whose `key` is `value`; null: none is.
Json entryOf(const Json& list, const char* key, const Json& value);
/// The kernels of `plan`, a document, that hold `node`.
std::vector<Json> kernelsOf(const Json& plan, const std::string& node);

}  // namespace fusescope::test
