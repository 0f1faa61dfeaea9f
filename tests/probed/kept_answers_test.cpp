// What tally answered is found again by another process, as long as nothing that it depends on changed.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cache/disk_store.h"
#include "compilers/probed/network_digests.h"
#include "tests/probed/kept_answers_fixture.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

TEST_F(KeptAnswers, AreNoDifferenceOfPlans) {
  const std::string model = network();
  const ProcessResult diff = command({"diff", model, model, "--compiler", "tally", "--exit-code"});
  EXPECT_EQ(diff.status, 0) << diff.out << diff.err;  // A is asked, and B found
}

TEST_F(KeptAnswers, AreFoundByTheNextProcessAndSaidToBe) {
  const Json first = plan();
  EXPECT_FALSE(isFound(first));
  EXPECT_EQ(answersKept(), 2) << "what it supports, and what it made\n" << said(first);
  Json second = plan();
  EXPECT_TRUE(isFound(second));
  const Json said = entryOf(second["decisions"], "code", "cache.found");
  EXPECT_EQ(said["arguments"]["where"], "disk");
  EXPECT_FALSE(said["arguments"]["made_by"].get<std::string>().empty());
  for (const char* part : {"kernels", "nodes", "pins", "support", "segments", "compiler"})
    EXPECT_EQ(second[part], first[part]) << part;
  const Json list = kept();
  for (const Json& entry : list["entries"]) {
    if (entry["kind"] == "answer") {
      EXPECT_EQ(entry["hits"], 1) << entry;
    }
  }
}

/// Programs write engines and reports into the folder in which they run, so that its times are no fact of the compiler.
TEST_F(KeptAnswers, AreFoundWithoutTheCompilerAfterAFileWasWrittenIntoTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::create_directory(file("here"));
  fs::current_path(file("here"));
  ::setenv("FUSESCOPE_TEST_REQUESTS", file("requests").c_str(), 1);
  const auto isOpenedAfterWriting = [&](const char* name) {
    std::ignore = plan();
    std::ofstream(name) << "an engine";
    fs::remove(file("requests"));
    EXPECT_TRUE(isFound(plan()));
    return fs::exists(file("requests"));
  };
  EXPECT_FALSE(isOpenedAfterWriting("a.fse"));
  plantHere("LD_LIBRARY_PATH=");
  EXPECT_FALSE(isOpenedAfterWriting("b.fse")) << "the loader ignores an empty variable";
  plantHere("LD_LIBRARY_PATH=" + file("libraries") + ":");
  EXPECT_TRUE(isOpenedAfterWriting("c.fse")) << "the loader looks for libraries here, where one might have appeared";
  ::unsetenv("FUSESCOPE_TEST_REQUESTS");
  fs::current_path(before);
}

/// A machine that is busy with something else has no time for hashing the code: its answers are kept nevertheless.
TEST_F(KeptAnswers, AreKeptHoweverLongHashingALittleCodeTakes) {
  std::ofstream(packages() / "sitecustomize.py") << "import hashlib, os, time\n"
                                                    "def slow(*content, at_once=hashlib.sha256, **more):\n"
                                                    "    try:\n"
                                                    "        os.close(os.open('"
                                                 << file("slow")
                                                 << "', os.O_CREAT | os.O_EXCL))\n"
                                                    "        time.sleep(12)\n"
                                                    "    except FileExistsError:\n"
                                                    "        pass\n"
                                                    "    return at_once(*content, **more)\n"
                                                    "hashlib.sha256 = slow\n";
  const Json first = plan();
  EXPECT_TRUE(fs::exists(file("slow")));
  EXPECT_EQ(answersKept(), 2) << said(first);
  EXPECT_TRUE(isFound(plan()));
}

TEST_F(KeptAnswers, NothingIsFoundWhereAnythingDiffers) {
  std::ignore = plan();
  EXPECT_FALSE(isFound(plan({"--compiler-option", "hands=one"}))) << "an option";
  EXPECT_FALSE(isFound(plan({"--pin", "scale=f16:prefer"}))) << "a pin, which is a type in the network";
  EXPECT_FALSE(isFound(plan({"--fallback", "turn"}))) << "another part of it";
  EXPECT_FALSE(isFound(plan({}, R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] y) <float[4] w = {1, -2, 3, 0.75}, float[4] b = {0.25, 1, -1, 2}> {
  [scale] a = Mul (x, w)
  [clip] c = Relu (a)
  [turn] d = Neg (c)
  [shift] e = Add (d, b)
  [last] y = Relu (e)
})"))) << "one weight";
  plantHere("CUDA_VISIBLE_DEVICES=3");
  EXPECT_FALSE(isFound(plan())) << "a variable of the environment";
  plantHere();
  EXPECT_TRUE(isFound(plan())) << "all as it was";
}

TEST_F(KeptAnswers, APackageThatChangedIsAskedAnew) {
  std::ignore = plan();
  ASSERT_TRUE(isFound(plan()));
  std::ofstream(packages() / "fusescope_compiler_tally.py", std::ios::app) << "\n# another one\n";
  EXPECT_FALSE(isFound(plan())) << "its code";
  EXPECT_TRUE(isFound(plan()));
  std::ofstream(packages() / "tally-1.5.dist-info" / "METADATA")
      << "Metadata-Version: 2.1\nName: tally\nVersion: 1.6\n";
  EXPECT_FALSE(isFound(plan())) << "its version";
  fs::remove_all(packages() / "tally-1.5.dist-info");
  EXPECT_FALSE(isFound(plan())) << "nothing says any more which one it is";
  EXPECT_FALSE(isFound(plan())) << "so that nothing is kept";
}

TEST_F(KeptAnswers, CacheOffAsksAndReadKeepsNothing) {
  std::ignore = plan({"--cache", "read"});
  EXPECT_EQ(answersKept(), 0);
  const Json first = plan();
  EXPECT_EQ(answersKept(), 2) << said(first);
  EXPECT_FALSE(isFound(plan({"--cache", "off"})));
  EXPECT_TRUE(isFound(plan({"--cache", "read"})));
  EXPECT_EQ(command({"plan", network(), "--compiler", "tally", "--cache", "maybe"}).status, 2);
}

TEST_F(KeptAnswers, ADamagedOneIsSaidDeletedAndMadeAgain) {
  const Json first = plan();
  for (const auto& blob : fs::directory_iterator(m_folder / "cache" / "store" / "blobs")) {
    std::fstream file(blob.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(70);
    file.put('\x55');
    file.put('\x55');
  }
  const Json again = plan();
  EXPECT_FALSE(isFound(again));
  EXPECT_FALSE(entryOf(again["decisions"], "code", "cache.entry_damaged").is_null());
  EXPECT_EQ(again["kernels"], first["kernels"]);
  EXPECT_TRUE(isFound(plan()));
  EXPECT_EQ(command({"cache", "verify"}).status, 0);
}

TEST_F(KeptAnswers, AreNotWhatIsRunOrTimed) {
  std::ignore = plan();
  expectSameNumbers(network());
  const Json times = json({"time", network(), "--compiler", "tally", "--seconds", "0.05", "--warmup", "0"});
  EXPECT_TRUE(times["median_ms"].is_number());
  EXPECT_EQ(answersKept(), 2) << "neither runs nor times are kept";
}

TEST_F(KeptAnswers, ABuildFindsWhatItWroteAndItsFileRuns) {
  const auto build = [&](const char* to) { return json({"build", network(), "--compiler", "tally", "-o", file(to)}); };
  std::ignore = build("a.fse");
  const Json again = build("b.fse");
  EXPECT_TRUE(again.contains("compiler_phases")) << again;
  EXPECT_FALSE(entryOf(again["decisions"], "code", "cache.found").is_null());
  std::int64_t hits = 0;
  const Json list = kept();
  for (const Json& entry : list["entries"]) hits += entry["kind"] == "answer" ? entry["hits"].get<std::int64_t>() : 0;
  EXPECT_EQ(hits, 2);
  const ProcessResult run = command({"run", file("b.fse"), "--expect", expected(network()), "--tol-rms", "1e-6"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(KeptAnswers, WhyNamesTheFieldsThatDiffer) {
  const std::string model = network();
  const auto why = [&](std::vector<std::string> more, int status) {
    std::vector<std::string> arguments{"cache", "why", model, "--compiler", "tally", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = command(arguments);
    EXPECT_EQ(result.status, status) << result.out << result.err;
    return Json::parse(result.out, nullptr, false);
  };
  const Json before = why({}, 1);
  EXPECT_TRUE(before["questions"].back()["nearest"].is_null());
  std::ignore = plan();
  const Json found = why({}, 0);
  for (const Json& question : found["questions"]) EXPECT_TRUE(question["found"].is_object());
  const Json option = why({"--compiler-option", "hands=one"}, 1)["questions"].back();
  ASSERT_EQ(option["differs"].size(), 1U) << option["differs"];
  EXPECT_EQ(option["differs"][0]["field"], "request.options.hands");
  EXPECT_EQ(option["differs"][0]["here"], "one");
  EXPECT_EQ(option["differs"][0]["nearest"], "two");
  plantHere("OMP_PLACES=cores");
  const Json variable = why({}, 1)["questions"].back();
  ASSERT_EQ(variable["differs"].size(), 1U) << variable["differs"];
  EXPECT_EQ(variable["differs"][0]["field"], "environment.variables.OMP_PLACES");
}

/// The command names the part of the network, the option or the number of threads that differs.
TEST_F(KeptAnswers, WhySaysWhichPartDiffers) {
  const auto why = [&](const char* text, std::vector<std::string> more) {
    std::vector<std::string> arguments{"cache", "why", network(text), "--compiler", "tally", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = command(arguments);
    EXPECT_EQ(result.status, 1) << result.out << result.err;
    return Json::parse(result.out, nullptr, false)["questions"].back();
  };
  std::string other = kNetwork;
  other.replace(other.find("0.5}"), 4, "0.7}");
  std::ignore = plan();
  EXPECT_EQ(why(other.c_str(), {})["network_differs"], Json({"weights"}));
  const ProcessResult words = command({"cache", "why", network(other.c_str()), "--compiler", "tally"});
  EXPECT_NE(words.out.find("the weights differ; the operators, attributes, extents and types are the same"),
            std::string::npos)
      << words.out;
  EXPECT_EQ(words.out.find("network.network.onnx"), std::string::npos) << words.out;
  const Json types = why(kNetwork, {"--pin", "clip=f16:prefer"});
  EXPECT_EQ(types["network_differs"], Json({"types"})) << types;
  const Json option = why(kNetwork, {"--compiler-option", "hands=one"});
  EXPECT_TRUE(option["network_differs"].empty()) << option;
  ASSERT_EQ(option["differs"].size(), 1U) << option["differs"];
  EXPECT_EQ(option["differs"][0]["field"], "request.options.hands");
  const Json threads = why(kNetwork, {"--threads", "7"});
  ASSERT_EQ(threads["differs"].size(), 1U) << threads["differs"];
  EXPECT_EQ(threads["differs"][0]["field"], "request.options.threads");
  EXPECT_EQ(threads["differs"][0]["here"], 7);
}

/// The answer about the other network was asked with the option, and is newer. Its key differs in as many fields.
TEST_F(KeptAnswers, WhyPrefersTheSameNetworkToAnotherOne) {
  std::string other = kNetwork;
  other.replace(other.find("0.5}"), 4, "0.7}");
  std::ignore = plan();
  std::ignore = plan({"--compiler-option", "hands=one"}, other.c_str());
  const ProcessResult result =
      command({"cache", "why", network(), "--compiler", "tally", "--compiler-option", "hands=one", "--json"});
  const Json why = Json::parse(result.out, nullptr, false)["questions"].back();
  EXPECT_TRUE(why["network_differs"].empty()) << why;
  ASSERT_EQ(why["differs"].size(), 1U) << why["differs"];
  EXPECT_EQ(why["differs"][0]["field"], "request.options.hands");
}

TEST_F(KeptAnswers, WhyComparesWithAnswersOfTheSameCompiler) {
  std::ignore = plan();
  const auto store = DiskStore::open(m_folder / "cache" / "store");
  const std::vector<StoreEntry> entries = store->entries("answer");
  ASSERT_TRUE(store->clear().ok());
  for (const StoreEntry& entry : entries) {
    Json key = Json::parse(entry.key);
    key["compiler"] = "another";
    EXPECT_TRUE(store->keep(entry.facts, key.dump(), "bytes"));
  }
  const ProcessResult result = command({"cache", "why", network(), "--compiler", "tally", "--json"});
  EXPECT_EQ(result.status, 1);
  for (const Json& question : Json::parse(result.out, nullptr, false)["questions"])
    EXPECT_TRUE(question["nearest"].is_null()) << question;
}

/// tally takes no operator that has attributes.
TEST_F(KeptAnswers, PartsOfNetworksHaveHashesOfTheirOwn) {
  const auto digests = [&](const std::string& weight, const std::string& alpha, const std::string& extent,
                           const std::string& nodes = "", const std::string& last = "d") {
    const std::string text = "<ir_version: 10, opset_import: [\"\" : 18]> net (float[" + extent + ", 4] x) => (float[" +
                             extent + ", 4] y) <float[4] w = {1, -2, 3, " + weight +
                             "}> { a = Mul (x, w) d = LeakyRelu <alpha = " + alpha + "> (a) " + nodes + " y = Neg (" +
                             last + ") }";
    return networkDigests({{"network.onnx", network(text.c_str())}});
  };
  using Parts = std::vector<std::string>;
  const Json first = digests("0.5", "0.1", "2");
  EXPECT_EQ(partsThatDiffer(first, digests("0.5", "0.1", "2")), Parts());
  EXPECT_EQ(partsThatDiffer(first, digests("0.6", "0.1", "2")), Parts{"weights"});
  EXPECT_EQ(partsThatDiffer(first, digests("0.5", "0.2", "2")), Parts{"attributes"});
  EXPECT_EQ(partsThatDiffer(first, digests("0.5", "0.1", "3")), Parts{"extents"});
  const Json cast = digests("0.5", "0.1", "2", "e = Cast <to = 10> (d) f = Cast <to = 1> (e)", "f");
  EXPECT_EQ(partsThatDiffer(first, cast), Parts{"types"});
  EXPECT_EQ(partsThatDiffer(first, digests("0.5", "0.1", "2", "e = Relu (d)", "e")), Parts{"operators"});
  EXPECT_EQ(partsThatDiffer(first, nullptr), Parts()) << "an entry of an earlier version";
  EXPECT_EQ(differenceInWords({"operators", "types"}),
            "the operators and types differ; the attributes, extents and weights are the same");
}

/// An answer that also serves the comparison of inner values serves a build, which needs none.
TEST_F(KeptAnswers, OfAPlanServeABuild) {
  const auto isFoundBy = [&](const Json& why, const std::string& command) {
    for (const Json& question : why["questions"])
      if (question["op"] == "compile" && (question["by"].is_null() || question["by"] == command))
        return question["found"].is_object();
    return false;
  };
  const auto why = [&] {
    return Json::parse(command({"cache", "why", network(), "--compiler", "tally", "--json"}).out, nullptr, false);
  };
  const auto build = [&] { return json({"build", network(), "--compiler", "tally", "-o", file("e.fse")}); };
  std::ignore = build();
  const Json ofBuild = why();
  EXPECT_TRUE(isFoundBy(ofBuild, "build")) << ofBuild.dump(1);
  EXPECT_FALSE(isFoundBy(ofBuild, "plan")) << ofBuild.dump(1);
  std::ignore = json({"cache", "clear"});
  std::ignore = plan();
  EXPECT_EQ(answersKept(), 2);
  const Json ofPlan = why();
  EXPECT_TRUE(isFoundBy(ofPlan, "build")) << ofPlan.dump(1);
  EXPECT_TRUE(isFoundBy(ofPlan, "plan")) << ofPlan.dump(1);
  EXPECT_FALSE(entryOf(build()["decisions"], "code", "cache.found").is_null());
  EXPECT_EQ(answersKept(), 2) << "the build asked nothing";
}

/// Whoever finds an answer need not start the compiler either, which is part of the time that this saves.
TEST_F(KeptAnswers, SaveTheTimeOfStartingTheCompiler) {
  std::ofstream(packages() / "fusescope_compiler_tally.py", std::ios::app) << "\ntime.sleep(1.5)\n";
  std::ignore = plan();
  std::ignore = json({"build", network(), "--compiler", "tally", "--threads", "7", "-o", file("e.fse")});
  double longest = 0;
  const Json list = kept();
  for (const Json& entry : list["entries"])
    if (entry["about"].get<std::string>().ends_with(": compile"))
      longest = std::max(longest, entry["made_ms"].get<double>());
  EXPECT_GE(longest, 1500) << list["entries"];
}

TEST_F(KeptAnswers, SeveralBuildsOfACompilerSayWhatHappened) {
  std::ofstream(file("one.json")) << R"({"format": "fusescope.directives", "version": 3, "directives": []})";
  const std::vector<std::string> arguments{"build", network(),     "--compiler", "tally",
                                           "-o",    file("e.fse"), "--then",     file("one.json")};
  const ProcessResult built = command(arguments);
  EXPECT_EQ(built.status, 0) << built.err;
  EXPECT_NE(built.out.find("compiled"), std::string::npos) << built.out;
  EXPECT_NE(built.out.find("found"), std::string::npos) << built.out;
  EXPECT_EQ(built.out.find("taken over"), std::string::npos) << built.out;
  // Each decision names the engine that it is about.
  EXPECT_NE(built.out.find("\n" + file("e-one.fse") + ": "), std::string::npos) << built.out;
}

TEST_F(KeptAnswers, ABuildSaysThatTheStoreIsNotUsed) {
  fs::create_directories(m_folder / "cache");
  std::ofstream(m_folder / "cache" / "store") << "a file where a folder is to be";
  const ProcessResult built = command({"build", network(), "--compiler", "tally", "-o", file("e.fse")});
  EXPECT_EQ(built.status, 0) << built.err;
  EXPECT_NE(built.out.find("the store of kept answers has a problem"), std::string::npos) << built.out;
}

TEST_F(KeptAnswers, AreTidiedUp) {
  std::ignore = plan();
  EXPECT_GT(json({"cache", "gc", "--limit", "1"})["removed"], 0);
  EXPECT_EQ(kept()["entries"].size(), 0U);
  EXPECT_EQ(kept()["limit_bytes"], 1);
  std::ignore = json({"cache", "gc", "--limit", "1000000"});
  std::ignore = plan();
  EXPECT_EQ(answersKept(), 2);
  EXPECT_GT(json({"cache", "clear"})["removed"], 0);
  EXPECT_EQ(kept()["entries"].size(), 0U);
}

TEST_F(KeptAnswers, AStoreThatCannotBeUsedCostsNothingButTime) {
  fs::create_directories(m_folder / "cache");
  std::ofstream(m_folder / "cache" / "store") << "a file where a folder is to be";
  const Json first = plan();
  EXPECT_FALSE(isFound(first));
  EXPECT_GT(first["kernels"].size(), 0U);
  EXPECT_FALSE(entryOf(first["decisions"], "code", "cache.store").is_null());
  EXPECT_EQ(command({"cache", "list"}).status, 2);
}

}  // namespace
}  // namespace fusescope::test
