// Two machines of a team: each has its own cache folder and its own installation of a compiler, with other inodes,
// times and paths. What one of them was told, the other one finds.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/probed/tally_fixture.h"
#include "tests/support/command_json.h"
#include "tests/unit/shared_cache/redis_server.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

/// So often a machine asks where the place was too slow, which a busy machine may be.
constexpr int kPatience = 20;

/// A virtual environment of `python` in `folder`, without packages. Returns its Python.
std::string madeEnvironment(const std::string& python, const fs::path& folder) {
  const ProcessResult made = runProcess({python, "-m", "venv", "--without-pip", folder.string()});
  EXPECT_EQ(made.status, 0) << made.err;
  return (folder / "bin" / "python").string();
}

fs::path packagesOf(const std::string& python) {
  const ProcessResult told =
      runProcess({python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'), end='')"});
  EXPECT_EQ(told.status, 0) << told.err;
  return told.out;
}

bool isSaid(const Json& plan, const char* code) {
  return std::ranges::any_of(plan["decisions"], [&](const Json& decision) { return decision["code"] == code; });
}

/// Where a plan says that an answer was found; empty: it was not.
std::string foundOn(const Json& plan) {
  for (const Json& decision : plan["decisions"])
    if (decision["code"] == "cache.found") return decision["arguments"]["where"];
  return {};
}

/// What machines of a team have in common: a place, and a key.
class Team {
 public:
  Team() {
    writeKey("key", 'k');
    writeKey("other key", 'o');
    fs::create_directory(folder());
  }
  ~Team() {
    for (const char* name : {"FUSESCOPE_SHARED_STORE", "FUSESCOPE_SHARED_STORE_KEY"}) ::unsetenv(name);
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  fs::path folder() const { return m_folder / "team"; }
  void use(const std::string& place, const std::string& key = "key") const {
    ::setenv("FUSESCOPE_SHARED_STORE", place.c_str(), 1);
    if (key.empty())
      ::unsetenv("FUSESCOPE_SHARED_STORE_KEY");
    else
      ::setenv("FUSESCOPE_SHARED_STORE_KEY", (m_folder / key).c_str(), 1);
  }
  std::int64_t entries() const {
    std::int64_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder()))
      count += entry.is_regular_file() && entry.path().filename().string().size() == 64 ? 1 : 0;
    return count;
  }

 private:
  void writeKey(const char* name, char byte) const {
    std::ofstream(m_folder / name) << std::string(40, byte);
    fs::permissions(m_folder / name, fs::perms::owner_read | fs::perms::owner_write);
  }
  TemporaryFolder m_folder;
};

/// A plan on a machine that has nothing yet. It is asked again while the place is too slow.
Json planOfNewMachine(const fs::path& cache, const std::function<Json()>& plan) {
  Json told;
  for (int i = 0; i < kPatience; ++i) {
    fs::remove_all(cache);
    ::setenv("FUSESCOPE_CACHE", cache.c_str(), 1);
    told = plan();
    if (!isSaid(told, "cache.store")) break;
  }
  return told;
}

/// By tally, in environments with a package of it.
class SharedAnswers : public Tally {
 protected:
  SharedAnswers() {
    if (const char* set = std::getenv("FUSESCOPE_CACHE")) m_before = set;
    ::setenv("FUSESCOPE_TEST_ASKED", file("asked").c_str(), 1);
    m_first = installed("first_machine");
    m_second = installed("other_place/second_machine");
  }
  ~SharedAnswers() override {
    ::unsetenv("FUSESCOPE_TEST_ASKED");
    ::setenv("FUSESCOPE_CACHE", m_before.c_str(), 1);
  }

  std::string installed(const std::string& name) const {
    const std::string python = madeEnvironment("python3", m_folder / name);
    const fs::path packages = packagesOf(python);
    fs::copy(FUSESCOPE_SOURCE_DIR "/tests/probed/python", packages);
    fs::create_directories(packages / "tally-1.5.dist-info");
    std::ofstream(packages / "tally-1.5.dist-info" / "METADATA")
        << "Metadata-Version: 2.1\nName: tally\nVersion: 1.5\n";
    std::ofstream(packages / "tally-1.5.dist-info" / "RECORD")
        << "fusescope_compiler_tally.py,,\ntally-1.5.dist-info/METADATA,,\ntally-1.5.dist-info/INSTALLER,,\n";
    std::ofstream(packages / "tally-1.5.dist-info" / "INSTALLER") << name << "\n";
    return python;
  }
  /// On the machine with that Python, after it forgot everything. The second one only reads, so that what it finds is
  /// what the first one made.
  Json planOn(const std::string& python) const {
    ::setenv("FUSESCOPE_PYTHON", python.c_str(), 1);
    const std::string mode = python == m_first ? "write" : "read";
    return planOfNewMachine(file("cache"), [this, mode] {
      fs::remove(file("asked"));
      return json({"plan", network(), "--compiler", "tally", "--cache", mode});
    });
  }
  bool wasCompiled() const { return fs::exists(file("asked")); }

  Team m_team;
  std::string m_first, m_second;

 private:
  std::string m_before;
};

TEST_F(SharedAnswers, AreFoundByAMachineThatHasItsOwnInstallation) {
  m_team.use(m_team.folder());
  std::ignore = planOn(m_first);
  EXPECT_EQ(m_team.entries(), 2) << "what it supports, and what it made; nothing that holds on one machine only";
  const Json second = planOn(m_second);
  EXPECT_EQ(foundOn(second), "shared folder") << second["decisions"];
  EXPECT_FALSE(wasCompiled());
  EXPECT_EQ(second["compiler"]["environment"], m_second);
  std::string later;
  for (int i = 0; i < kPatience && later != "disk"; ++i)
    later = foundOn(json({"plan", network(), "--compiler", "tally"}));
  EXPECT_EQ(later, "disk") << "it keeps what it found";
}

/// A machine with an empty store of its own is told what its next plan will find.
TEST_F(SharedAnswers, AreNamedByWhy) {
  m_team.use(m_team.folder());
  std::ignore = planOn(m_first);
  ::setenv("FUSESCOPE_PYTHON", m_second.c_str(), 1);
  const Json why = planOfNewMachine(file("cache"), [this] {
    Json told = json({"cache", "why", network(), "--compiler", "tally"});
    told["decisions"] = Json::array();
    if (told["shared_problem"].is_string()) told["decisions"].push_back({{"code", "cache.store"}});
    return told;
  });
  ASSERT_EQ(why["questions"].size(), 1U) << why;
  EXPECT_TRUE(why["questions"][0]["found"].is_object()) << why;
  EXPECT_EQ(why["questions"][0]["where"], "shared folder");
  const ProcessResult words = command({"cache", "why", network(), "--compiler", "tally"});
  EXPECT_NE(words.out.find("compile of segment_0: found in the shared folder"), std::string::npos)
      << words.out << words.err;
}

TEST_F(SharedAnswers, OfOtherCodeAreNotFoundThoughItsVersionIsTheSame) {
  m_team.use(m_team.folder());
  std::ignore = planOn(m_first);
  std::ofstream(packagesOf(m_second) / "fusescope_compiler_tally.py", std::ios::app) << "\n# a patch of somebody\n";
  EXPECT_EQ(foundOn(planOn(m_second)), "");
  EXPECT_TRUE(wasCompiled());
}

TEST_F(SharedAnswers, OfAnotherTeamOrUnsignedAreNotUsed) {
  m_team.use(m_team.folder(), "other key");
  std::ignore = planOn(m_first);
  m_team.use(m_team.folder());
  const Json second = planOn(m_second);
  EXPECT_EQ(foundOn(second), "");
  EXPECT_TRUE(isSaid(second, "cache.entry_damaged")) << second["decisions"];
  EXPECT_TRUE(wasCompiled());
  fs::remove_all(m_team.folder());
  fs::create_directory(m_team.folder());
  fs::permissions(m_team.folder(), fs::perms::owner_all);
  m_team.use(m_team.folder(), "");
  std::ignore = planOn(m_first);
  EXPECT_EQ(m_team.entries(), 2) << "unsigned, in a folder that nobody else can write";
  m_team.use(m_team.folder());
  EXPECT_EQ(foundOn(planOn(m_second)), "");
  EXPECT_TRUE(wasCompiled());
}

TEST_F(SharedAnswers, AreFoundInARealRedis) {
  if (!RedisServer::isInstalled()) GTEST_SKIP() << "there is no redis-server";
  const RedisServer redis;
  m_team.use("unix:" + redis.socketPath());
  std::ignore = planOn(m_first);
  const Json second = planOn(m_second);
  EXPECT_EQ(foundOn(second), "redis") << second["decisions"];
  EXPECT_FALSE(wasCompiled());
  m_team.use("unix:" + redis.socketPath(), "other key");
  EXPECT_EQ(foundOn(planOn(m_second)), "");
  EXPECT_TRUE(wasCompiled());
}

/// Hashes are of the content: who installs the same again, or copies it, has the same.
TEST_F(SharedAnswers, AFileThatIsWrittenAgainIsHashedAgainAndIsTheSame) {
  ::setenv("FUSESCOPE_CACHE", file("cache").c_str(), 1);
  ::setenv("FUSESCOPE_PYTHON", m_first.c_str(), 1);
  const auto asked = [&] { return foundOn(json({"plan", network(), "--compiler", "tally"})); };
  EXPECT_EQ(asked(), "");
  EXPECT_EQ(asked(), "disk");
  const fs::path code = packagesOf(m_first) / "fusescope_compiler_tally.py";
  fs::copy_file(code, file("copy.py"));
  fs::remove(code);
  fs::copy_file(file("copy.py"), code);
  EXPECT_EQ(asked(), "disk") << "another inode with other times";
  std::ofstream(code, std::ios::app) << "\n# a patch\n";
  const ProcessResult why = command({"cache", "why", network(), "--compiler", "tally", "--json"});
  EXPECT_EQ(why.status, 1) << why.err;
  const Json differs = Json::parse(why.out)["questions"].back()["differs"];
  ASSERT_EQ(differs.size(), 1U) << differs;
  EXPECT_EQ(differs[0]["field"], "environment.code.tally");
  EXPECT_EQ(asked(), "");
}

TEST_F(SharedAnswers, AFolderIsListedAndBroughtBelowALimit) {
  m_team.use(m_team.folder());
  std::ignore = planOn(m_first);
  const Json list = json({"cache", "list"});
  EXPECT_EQ(list["shared"]["entries"], 2) << list["shared"];
  EXPECT_GT(list["shared"]["stored_bytes"], 0);
  const Json collected = json({"cache", "gc", "--shared", "--limit", "0"});
  EXPECT_EQ(collected["removed"], 2) << collected;
  EXPECT_EQ(collected["stored_bytes"], 0);
  EXPECT_EQ(m_team.entries(), 0);
  EXPECT_EQ(command({"cache", "gc", "--shared"}).status, 2) << "no limit is named";
  EXPECT_FALSE(json({"cache", "list"})["entries"].empty()) << "this machine keeps what it has";
}

/// ONNX Runtime and OpenVINO: the tests' environment, and a copy of it elsewhere.
class SharedAnswersOfReal : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSESCOPE_COMPILERS_PYTHON");
    if (python == nullptr)
      GTEST_SKIP() << "no Python with ONNX Runtime and OpenVINO: FUSESCOPE_COMPILERS_PYTHON is not set";
    if (const char* set = std::getenv("FUSESCOPE_CACHE")) m_before = set;
    ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
    m_first = python;
    m_second = madeEnvironment(python, m_folder / "second_machine");
    const ProcessResult copied =
        runProcess({"cp", "-r", packagesOf(m_first).string() + "/.", packagesOf(m_second).string()});
    ASSERT_EQ(copied.status, 0) << copied.err;
  }
  void TearDown() override {
    ::unsetenv("FUSESCOPE_PYTHON");
    ::setenv("FUSESCOPE_CACHE", m_before.c_str(), 1);
  }
  Json planOn(const std::string& python) const {
    ::setenv("FUSESCOPE_PYTHON", python.c_str(), 1);
    const std::string model = (sampleFolder("bert_tiny") / "model.onnx").string();
    return planOfNewMachine(m_folder / (python == m_first ? "first cache" : "second cache"), [&] {
      return commandJson({"plan", model, "--compiler", GetParam()});
    });
  }
  void expectShared(const char* where) const {
    const Json first = planOn(m_first), second = planOn(m_second);
    EXPECT_EQ(foundOn(second), where) << second["decisions"];
    for (const char* part : {"kernels", "nodes", "conversions"}) EXPECT_EQ(second[part], first[part]) << part;
  }

  const TemporaryFolder m_folder;
  Team m_team;
  std::string m_first, m_second;

 private:
  std::string m_before;
};

TEST_P(SharedAnswersOfReal, AreFoundInAFolderByAMachineWithItsOwnInstallation) {
  m_team.use(m_team.folder());
  expectShared("shared folder");
  m_team.use(m_team.folder(), "other key");
  const Json other = planOn(m_second);
  EXPECT_EQ(foundOn(other), "");
  EXPECT_TRUE(isSaid(other, "cache.entry_damaged")) << other["decisions"];
}

TEST_P(SharedAnswersOfReal, AreFoundInARealRedis) {
  if (!RedisServer::isInstalled()) GTEST_SKIP() << "there is no redis-server";
  const RedisServer redis;
  m_team.use("unix:" + redis.socketPath());
  expectShared("redis");
}

INSTANTIATE_TEST_SUITE_P(Compilers, SharedAnswersOfReal, ::testing::Values("onnxruntime", "openvino"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace fusescope::test
