// Which compiler is in an environment is told without importing it, and any change of it is noticed.
#include "probe/witness.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "probe/command_words.h"
#include "probe/listeners.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// A folder of packages with an "onnxruntime" that has one module and one library, and requires "helper".
class Witness : public ::testing::Test {
 protected:
  Witness() {
    write("onnxruntime/__init__.py", "raise RuntimeError('nobody imports it')\n");
    write("onnxruntime/core.so", "code");
    write("onnxruntime-9.1.dist-info/METADATA",
          "Metadata-Version: 2.1\nName: onnxruntime\nVersion: 9.1\nRequires-Dist: helper>=1; python_version>'3'\n");
    write("onnxruntime-9.1.dist-info/RECORD",
          "onnxruntime/__init__.py,,\nonnxruntime/core.so,,\nonnxruntime-9.1.dist-info/METADATA,,\n");
    write("helper.py", "");
    write("helper-2.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: helper\nVersion: 2.0\n");
    write("helper-2.0.dist-info/RECORD", "helper.py,,\nhelper-2.0.dist-info/METADATA,,\n");
    if (const char* set = std::getenv("FUSESCOPE_PYTHON")) m_before = set;
    ::setenv("FUSESCOPE_PYTHON", command().c_str(), 1);
  }
  ~Witness() override {
    endIdleListeners();
    if (m_before.empty())
      ::unsetenv("FUSESCOPE_PYTHON");
    else
      ::setenv("FUSESCOPE_PYTHON", m_before.c_str(), 1);
  }
  std::string command() const {
    return "env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + m_packages.path().string() + " python3";
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((m_packages / name).parent_path());
    std::ofstream(m_packages / name) << text;
  }
  Json asked(std::string_view compiler = "onnxruntime") const {
    const auto witness = askWitness({.name = "FUSESCOPE_PYTHON", .command = command()}, compiler, {});
    EXPECT_TRUE(witness.ok()) << witness.error().text();
    return witness.ok() ? witness.value() : Json();
  }

  const TemporaryFolder m_packages = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-packages").value();
  std::string m_before;
};

TEST_F(Witness, NamesThePackagesAndAllTheirCode) {
  const Json witness = asked();
  EXPECT_EQ(witness["is_there"], true);
  EXPECT_EQ(witness["why_not"], "");
  EXPECT_EQ(witness["packages"], (Json{{"helper", "2.0"}, {"onnxruntime", "9.1"}}));
  std::vector<std::string> paths;
  for (const Json& file : witness["files"]) paths.push_back(file[0]);
  for (const char* name : {"onnxruntime/__init__.py", "onnxruntime/core.so", "helper.py"})
    EXPECT_NE(std::ranges::find(paths, (m_packages / name).string()), paths.end()) << name;
  EXPECT_TRUE(isUnchanged(witness));
}

TEST_F(Witness, AnyChangeIsNoticed) {
  const auto changes = [&](const char* what, auto change) {
    const Json before = asked();
    EXPECT_TRUE(isUnchanged(before)) << what;
    change();
    EXPECT_FALSE(isUnchanged(before)) << what;
    EXPECT_NE(asked(), before) << what;
  };
  changes("a library", [&] { write("onnxruntime/core.so", "other"); });
  changes("one of the same size, with its time put back", [&] {
    const auto time = fs::last_write_time(m_packages / "onnxruntime/core.so");
    write("onnxruntime/core.so", "rehto");
    fs::last_write_time(m_packages / "onnxruntime/core.so", time);
  });
  changes("what it requires", [&] { write("helper.py", "# another\n"); });
  changes("the version", [&] {
    write("onnxruntime-9.1.dist-info/METADATA", "Metadata-Version: 2.1\nName: onnxruntime\nVersion: 9.2\n");
  });
  changes("a package beside it", [&] { write("torch.py", ""); });
  changes("a module less", [&] { fs::remove(m_packages / "onnxruntime/core.so"); });
}

TEST_F(Witness, SaysWhyNothingTellsWhichCompilerItIs) {
  EXPECT_EQ(asked("openvino")["is_there"], false);
  EXPECT_NE(asked("trtexec")["why_not"].get<std::string>().find("program"), std::string::npos);
  EXPECT_NE(asked("nobody")["why_not"].get<std::string>().find("nothing says"), std::string::npos);
  write("onnxruntime-9.1.dist-info/direct_url.json", R"({"url": "file:///x", "dir_info": {"editable": true}})");
  EXPECT_NE(asked()["why_not"].get<std::string>().find("does not say"), std::string::npos);
  fs::remove(m_packages / "onnxruntime-9.1.dist-info/direct_url.json");
  fs::remove(m_packages / "onnxruntime-9.1.dist-info/RECORD");
  EXPECT_NE(asked()["why_not"].get<std::string>().find("does not say"), std::string::npos);
}

TEST_F(Witness, WhatIsNoWitnessIsNotUnchanged) {
  EXPECT_FALSE(isUnchanged(Json()));
  EXPECT_FALSE(isUnchanged(Json{{"files", Json::array()}}));
  EXPECT_FALSE(isUnchanged(Json::parse(R"({"files": [["/etc/passwd", 1]]})")));
  EXPECT_FALSE(isUnchanged(Json::parse(R"({"files": [["/etc/passwd", "1", 2, 3, 4, "", ""]]})")));
  EXPECT_TRUE(isUnchanged(Json::parse(R"({"files": [["/there/is/none", -1, 0, 0, 0, "", ""]]})")));
}

TEST_F(Witness, TheProgramOfACommandIsFoundOnPath) {
  EXPECT_TRUE(programOf("env python3").empty());
  EXPECT_TRUE(programOf("there-is-no-such-program").empty());
  EXPECT_EQ(programOf("python3").filename(), "python3");
  EXPECT_EQ(programOf("/bin/sh"), "/bin/sh");
}

/// venv/bin/python in two folders is two programs.
TEST_F(Witness, AProgramBelowTheFolderIsNamedFromTheRootOn) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::vector<std::string> programs;
  for (const char* folder : {"a", "b"}) {
    std::filesystem::create_directories(m_packages.path() / folder / "bin");
    std::filesystem::create_symlink("/bin/sh", m_packages.path() / folder / "bin/python");
    std::filesystem::current_path(m_packages.path() / folder);
    programs.push_back(programOf("bin/python").string());
  }
  std::filesystem::current_path(before);
  EXPECT_NE(programs[0], programs[1]);
  EXPECT_TRUE(std::filesystem::path(programs[0]).is_absolute());
}

}  // namespace
}  // namespace fusescope
