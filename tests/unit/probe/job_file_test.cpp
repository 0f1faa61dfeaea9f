// Jobs that run without a connection: packed, run by Python, and opened again; results of others are not trusted.
#include "probe/job_file.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/zip_archive.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

class JobFile : public ProbeTest {
 protected:
  /// Runs the packed job as a user does; its exit status.
  int run() const {
    const std::string fakes = std::string(FUSESCOPE_SOURCE_DIR) + "/tests/unit/probe/python";
    return std::system(fmt::format("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={} python3 {} 2>{}", fakes, job().string(),
                                   (m_folder / "printed").string())
                           .c_str());
  }
  std::filesystem::path job() const { return m_folder / "job.pyz"; }
  std::filesystem::path result() const { return m_folder / "result.zip"; }
  /// The requests of the tests: a file that goes there and back, a refusal.
  std::vector<ProbeRequest> requests() const {
    const auto network = file("network.onnx", "a network");
    return {{.json = {{"op", "echo"}, {"threads", 2}}, .files = {{"network.onnx", network}, {"sub/weights", network}}},
            {.json = {{"op", "refuse"}}, .files = {}}};
  }
  void pack(const std::vector<ProbeRequest>& all) {
    const auto packed = packJob("echo", all, job(), {});
    ASSERT_TRUE(packed.ok()) << packed.error().text();
    m_id = packed.value();
  }
  /// Writes the result again, changed.
  void change(const std::function<void(Json&)>& changeHead,
              const std::function<void(std::string&, std::string&)>& changeEntry = {}) {
    std::map<std::string, std::string> entries;
    {
      const auto archive = ZipReader::open(result());
      ASSERT_TRUE(archive.ok());
      for (std::size_t i = 0; i < archive.value().entries().size(); ++i) {
        const auto bytes = archive.value().bytes(i, 1 << 20);
        ASSERT_TRUE(bytes.ok());
        std::string name = archive.value().entries()[i].name;
        std::string text(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
        if (name == "result.json") {
          Json head = Json::parse(text);
          changeHead(head);
          text = head.dump();
        } else if (changeEntry) {
          changeEntry(name, text);
        }
        entries[name] = text;
      }
    }
    auto archive = ZipWriter::at(result());
    ASSERT_TRUE(archive.ok());
    for (const auto& [name, text] : entries) ASSERT_TRUE(archive.value().add(name, std::string_view(text)).ok());
    ASSERT_TRUE(archive.value().finish().ok());
  }
  /// The error of opening the result and asking for the first request's answer.
  std::string problem() {
    auto opened = openJobResult(result(), m_id);
    if (!opened.ok()) return opened.error().text();
    const auto answer = opened.value().probe->ask(requests()[0], {});
    return answer.ok() ? "" : answer.error().text();
  }

  std::string m_id;
};

TEST_F(JobFile, GivesTheAnswersOfALiveProbe) {
  pack(requests());
  ASSERT_EQ(run(), 0) << textOfFile(m_folder / "printed");
  auto opened = openJobResult(result(), m_id);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  ProbeJob& recorded = *opened.value().probe;
  const auto live = started(withFakes());
  ASSERT_TRUE(live);
  EXPECT_EQ(recorded.opened()["version"], live->opened()["version"]);
  const auto here = live->ask(requests()[0], {}), there = recorded.ask(requests()[0], {});
  ASSERT_TRUE(here.ok() && there.ok()) << there.error().text();
  EXPECT_EQ(there.value().json["request"], here.value().json["request"]);
  ASSERT_EQ(there.value().files.size(), 2U);
  EXPECT_EQ(textOfFile(there.value().files.at("sub/weights")), "a network");
  EXPECT_EQ(recorded.ask(requests()[1], {}).error(), live->ask(requests()[1], {}).error());
}

TEST_F(JobFile, ACompilerThatCrashesLeavesAResult) {
  pack({{.json = {{"op", "crash"}}, .files = {}}, {.json = {{"op", "odd_numbers"}}, .files = {}}});
  ASSERT_EQ(run(), 0) << textOfFile(m_folder / "printed");
  auto opened = openJobResult(result(), m_id);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const auto said = opened.value().probe->ask({.json = {{"op", "crash"}}, .files = {}}, {}).error().message;
  EXPECT_NE(said.find("signal 11 (Segmentation fault)"), std::string::npos) << said;
  EXPECT_NE(said.find("about to crash"), std::string::npos) << said;
  EXPECT_FALSE(opened.value().probe->ask({.json = {{"op", "odd_numbers"}}, .files = {}}, {}).ok());
}

TEST_F(JobFile, AnotherJobsResultIsRefused) {
  pack(requests());
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(problem(), "");
  EXPECT_NE(openJobResult(result(), "0123").error().text().find("another job"), std::string::npos);
  file("network.onnx", "a network");
  auto opened = openJobResult(result());
  ASSERT_TRUE(opened.ok());
  auto other = requests()[0];
  other.json["threads"] = 3;
  EXPECT_NE(opened.value().probe->ask(other, {}).error().text().find("another job"), std::string::npos);
  other = requests()[0];
  other.files["network.onnx"] = file("other.onnx", "A network");
  EXPECT_NE(opened.value().probe->ask(other, {}).error().text().find("a job with another network"), std::string::npos);
}

TEST_F(JobFile, AResultThatLiesIsRefused) {
  pack(requests());
  ASSERT_EQ(run(), 0);
  const auto nothing = [](Json&) {};
  const auto saved = textOfFile(result());
  const auto again = [&] { file("result.zip", saved); };
  change([](Json& head) { head["answers"][1]["files"][0]["name"] = "../../outside"; });
  EXPECT_NE(problem().find("not allowed"), std::string::npos) << problem();
  EXPECT_FALSE(std::filesystem::exists(m_folder / "outside"));
  again();
  change([](Json& head) { head["answers"][1]["files"][0]["name"] = "/tmp/outside"; });
  EXPECT_NE(problem().find("not allowed"), std::string::npos) << problem();
  again();
  change(nothing, [](std::string&, std::string& text) { text[0] ^= 1; });
  EXPECT_NE(problem().find("damaged"), std::string::npos) << problem();
  again();
  change(nothing, [](std::string&, std::string& text) { text += "more"; });
  EXPECT_NE(problem().find("does not have the expected size"), std::string::npos) << problem();
  again();
  change(nothing, [](std::string& name, std::string&) { name += "_"; });
  EXPECT_NE(problem().find("does not exist"), std::string::npos) << problem();
  again();
  change([](Json& head) { head["probe"] = "0"; });
  EXPECT_NE(problem().find("another version of Fusescope"), std::string::npos) << problem();
  again();
  change([](Json& head) { head["version"] = 2; });
  EXPECT_NE(problem().find("another version of Fusescope"), std::string::npos) << problem();
  again();
  change([](Json& head) { head["answers"] = 3; });
  EXPECT_NE(problem().find("must be a list"), std::string::npos) << problem();
  file("result.zip", saved.substr(0, saved.size() / 2));
  EXPECT_NE(problem(), "");
}

TEST_F(JobFile, WhatWasNotedComesBack) {
  const Json noted{{"format", "noted"}, {"do", {"plan", "run"}}};
  const auto packed = packJob("echo", requests(), job(), {}, {}, noted);
  ASSERT_TRUE(packed.ok()) << packed.error().text();
  ASSERT_EQ(run(), 0);
  auto opened = openJobResult(result(), packed.value());
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened.value().asked, noted);
  EXPECT_EQ(opened.value().ops, (std::set<std::string>{"open", "echo", "refuse"}));
  EXPECT_EQ(opened.value().finished.size(), std::string("2026-01-31T12:00:00Z").size());
}

TEST_F(JobFile, HowLongAndByHowManyThreadsIsTheJobs) {
  const auto network = file("network.onnx", "a network");
  const auto question = [&](double seconds, int threads) {
    return ProbeRequest{
        .json = {{"op", "echo"}, {"seconds", seconds}, {"options", {{"threads", threads}, {"level", 1}}}},
        .files = {{"network.onnx", network}}};
  };
  pack({question(2, 4)});
  ASSERT_EQ(run(), 0);
  auto opened = openJobResult(result(), m_id);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const auto answer = opened.value().probe->ask(question(0.5, 1), {});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer.value().json["request"]["seconds"], 2);
  auto other = question(2, 4);
  other.json["options"]["level"] = 2;
  EXPECT_NE(opened.value().probe->ask(other, {}).error().text().find("with these options"), std::string::npos);
}

TEST_F(JobFile, ADamagedJobSaysSo) {
  pack(requests());
  std::string bytes = textOfFile(job());
  const std::size_t at = bytes.rfind("a network");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'A';
  file("job.pyz", bytes);
  EXPECT_NE(run(), 0);
  EXPECT_FALSE(std::filesystem::exists(result()));
}

}  // namespace
