#include <algorithm>

#include "passes/pipelines.h"
#include "tests/mutation/dice.h"
#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

using mutation::Dice;

constexpr Pt2Kind kKinds[] = {Pt2Kind::PlainZip, Pt2Kind::PickledWeights, Pt2Kind::RawWeights};

/// `bytes` with some of them changed, taken out, doubled or cut off.
std::string damaged(std::string bytes, Dice& dice) {
  for (std::size_t times = 1 + dice.below(6); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = dice.below(bytes.size());
    const std::size_t count = std::min(bytes.size() - at, 1 + dice.below(24));
    switch (dice.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(dice.bits());
        break;
      case 2:
        bytes.erase(at, count);
        break;
      case 3:
        bytes.insert(at, bytes.substr(dice.below(bytes.size()), count));
        break;
      default:
        if (dice.oneIn(6)) bytes.resize(at);
    }
  }
  return bytes;
}

/// JSON in which some words and numbers stand in each other's places, so that it often still is JSON.
std::string shuffled(std::string json, Dice& dice) {
  static const std::vector<std::string> kWords{"null",
                                               "-1",
                                               "0",
                                               "9223372036854775807",
                                               "[]",
                                               "{}",
                                               "\"x\"",
                                               "1e300",
                                               "true",
                                               "\"linear\"",
                                               "7",
                                               "[1]",
                                               "{\"as_int\": 3}",
                                               "\"as_tensor\"",
                                               "65536"};
  for (std::size_t times = 1 + dice.below(3); times > 0; --times) {
    std::vector<std::pair<std::size_t, std::size_t>> places;  // numbers and texts
    for (std::size_t i = 0; i < json.size(); ++i) {
      std::size_t end = i;
      if (json[i] == '"') {
        end = json.find('"', i + 1);
        if (end == std::string::npos) break;
        ++end;
      } else {
        while (end < json.size() && std::isdigit(static_cast<unsigned char>(json[end])) != 0) ++end;
      }
      if (end > i) places.emplace_back(i, end - i);
      i = std::max(i, end > i ? end - 1 : i);
    }
    if (places.empty()) return json;
    const auto [at, count] = dice.of(places);
    json.replace(at, count, dice.of(kWords));
  }
  return json;
}

struct Outcome {
  int read = 0, refused = 0;
};

/// A damaged file is read, or refused in words that name it. What is read can be prepared, or that is refused likewise.
void open(const TemporaryFolder& folder, const std::string& bytes, Outcome& outcome) {
  const auto path = folder.write("net.pt2", bytes);
  auto model = importModel(path);
  if (!model.ok()) {
    ++outcome.refused;
    EXPECT_EQ(model.error().where.file, path.string()) << model.error().text();
    EXPECT_FALSE(model.error().message.empty());
    return;
  }
  ++outcome.read;
  (void)prepareModel(std::move(model).value());
  (void)readExampleInputs(path);
}

TEST(DamagedPt2, BytesOfTheFile) {
  const TemporaryFolder folder;
  Outcome outcome;
  for (std::uint64_t seed = 0; seed < 900; ++seed) {
    Dice dice(seed);
    open(folder, damaged(pt2Bytes(kKinds[seed % 3], smallProgram()), dice), outcome);
  }
  EXPECT_EQ(outcome.read + outcome.refused, 900);
  EXPECT_GT(outcome.refused, 300);
}

/// The check sums are right, so that what is damaged is read.
TEST(DamagedPt2, PicklesOfTheFile) {
  const TemporaryFolder folder;
  Outcome outcome;
  for (std::uint64_t seed = 0; seed < 900; ++seed) {
    Dice dice(seed + 10'000);
    const Pt2Content content = smallProgram();
    const std::string pickle = damaged(PickleWriter().stateDict(content.weights).bytes(), dice);
    const std::string program = "serialized_exported_program.json";
    open(folder,
         zipBytes({{.name = program, .content = content.program},
                   {.name = "serialized_state_dict.pt", .content = savedBytes(pickle, content.storages)},
                   {.name = "serialized_constants.pt",
                    .content = savedBytes(PickleWriter().stateDict(content.constants).bytes(), content.storages)}}),
         outcome);
  }
  EXPECT_EQ(outcome.read + outcome.refused, 900);
  EXPECT_GT(outcome.refused, 600);
}

TEST(DamagedPt2, TheProgramOfTheFile) {
  const TemporaryFolder folder;
  Outcome outcome;
  for (std::uint64_t seed = 0; seed < 900; ++seed) {
    Dice dice(seed + 20'000);
    Pt2Content content = smallProgram();
    content.program = seed % 3 == 0 ? damaged(content.program, dice) : shuffled(content.program, dice);
    open(folder, pt2Bytes(kKinds[seed % 3], content), outcome);
  }
  EXPECT_EQ(outcome.read + outcome.refused, 900);
  EXPECT_GT(outcome.read, 50);
  EXPECT_GT(outcome.refused, 300);
}

/// Every prefix of a small file.
TEST(DamagedPt2, FilesThatAreCutOff) {
  const TemporaryFolder folder;
  const std::string whole = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  Outcome outcome;
  for (std::size_t length = 4; length < whole.size(); length += 29) open(folder, whole.substr(0, length), outcome);
  EXPECT_EQ(outcome.read, 0);
  EXPECT_GT(outcome.refused, 200);
}

}  // namespace
}  // namespace fusescope::test
