// An archive in which members are added or replaced: all others keep their bytes and their places.
#include "base/zip_update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/base64.h"
#include "base/json_splice.h"
#include "base/zip_archive.h"
#include "base/zip_places.h"
#include "tests/support/pt2_files.h"

namespace fusescope::test {
namespace {

std::span<const std::byte> asBytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string updated(const std::string& archive, const std::vector<ZipAddition>& additions) {
  const auto update = updatedZip(asBytes(archive), additions);
  EXPECT_TRUE(update.ok()) << update.error().text();
  if (!update.ok()) return {};
  const auto kept = update.value().kept;
  return std::string(reinterpret_cast<const char*>(kept.data()), kept.size()) + update.value().added;
}

/// Name and content of each member, in the archive's order, as the library unpacks them: check sums are compared.
std::vector<std::pair<std::string, std::string>> membersOf(const std::string& archive) {
  std::vector<std::pair<std::string, std::string>> members;
  const auto reader = ZipReader::of(asBytes(archive));
  EXPECT_TRUE(reader.ok()) << reader.error().text();
  if (!reader.ok()) return members;
  for (std::size_t i = 0; i < reader.value().entries().size(); ++i) {
    const auto bytes = reader.value().bytes(i, 1 << 24);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    members.emplace_back(reader.value().entries()[i].name,
                         bytes.ok()
                             ? std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size())
                             : std::string());
  }
  return members;
}

const ZipPlace* placeIn(const std::vector<ZipPlace>& places, const std::string& name) {
  for (const ZipPlace& place : places)
    if (place.name == name) return &place;
  return nullptr;
}

TEST(ZipUpdate, OthersStayWhereTheyAre) {
  const std::vector<ZipMember> members{{.name = "net/a", .content = "first"},
                                       {.name = "net/models/model.json", .content = "{}"},
                                       {.name = "net/packed", .content = std::string(70000, 'x'), .deflated = true},
                                       {.name = "net/ä, \"b\"", .content = ""}};
  const std::string before = zipBytes(members);
  const std::string after =
      updated(before, {{"net/models/model.json", "{\"longer\": true}"}, {"net/extra/n.json", "[1]"}});
  const auto was = zipPlaces(asBytes(before)), is = zipPlaces(asBytes(after));
  ASSERT_EQ(is.size(), 5U);
  for (const ZipMember& member : members) {
    if (member.name == "net/models/model.json") continue;
    const ZipPlace *old = placeIn(was, member.name), *now = placeIn(is, member.name);
    ASSERT_TRUE(old != nullptr && now != nullptr) << member.name;
    EXPECT_EQ(old->offset, now->offset) << member.name;
    EXPECT_EQ(old->isStored, now->isStored);
  }
  EXPECT_EQ(before.substr(0, zipPlaces(asBytes(before)).back().offset),
            after.substr(0, zipPlaces(asBytes(before)).back().offset))
      << "what is before the directory is as it was";
  const auto all = membersOf(after);
  EXPECT_EQ(all[3].second, "{\"longer\": true}");
  EXPECT_EQ(all[4].second, "[1]");
  for (const char* name : {"net/models/model.json", "net/extra/n.json"}) {
    const ZipPlace* place = placeIn(is, name);
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place->offset % 64, 0U) << name;
    EXPECT_TRUE(place->isStored);
  }
}

TEST(ZipUpdate, WritingAgainDoesNotLetItGrow) {
  const std::string before = zipBytes({{.name = "r/big", .content = std::string(1000, 'b')},
                                       {.name = "r/m.json", .content = std::string(500, 'm')},
                                       {.name = "r/last", .content = "z"}});
  const std::vector<ZipAddition> additions{{"r/m.json", std::string(600, 'n')}, {"r/extra/f", "f"}};
  const std::string once = updated(before, additions);
  EXPECT_EQ(updated(once, additions), once);
  const std::string other = updated(once, {{"r/extra/f", "g"}});
  EXPECT_LE(other.size(), once.size());
  EXPECT_EQ(membersOf(other)[2].second, std::string(600, 'n'));
}

TEST(ZipUpdate, RandomArchivesGiveWhatWasPutIn) {
  std::mt19937 random(30);
  const std::string letters = "abc/ \"',=";
  const auto word = [&](std::size_t most) {
    std::string text;
    for (std::size_t i = random() % most; i > 0; --i) text += letters[random() % letters.size()];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<ZipMember> members;
    std::map<std::string, std::string> expected;
    for (std::size_t i = random() % 6; i > 0; --i) {
      const std::string name = "root/" + std::to_string(members.size()) + word(8);
      members.push_back({.name = name, .content = word(300), .deflated = random() % 3 == 0});
      expected[name] = members.back().content;
    }
    std::string archive = zipBytes(members);
    for (int times = 0; times < 3; ++times) {
      std::vector<ZipAddition> additions;
      for (std::size_t i = 1 + random() % 3; i > 0; --i) {
        const bool replaces = !members.empty() && random() % 2 == 0;
        const std::string name = replaces ? members[random() % members.size()].name : "root/new" + std::to_string(i);
        if (std::ranges::any_of(additions, [&](const ZipAddition& known) { return known.name == name; })) continue;
        additions.push_back({name, word(500)});
        expected[name] = additions.back().content;
      }
      archive = updated(archive, additions);
      std::map<std::string, std::string> found;
      for (const auto& [name, content] : membersOf(archive)) EXPECT_TRUE(found.emplace(name, content).second) << name;
      ASSERT_EQ(found, expected) << round;
    }
  }
}

TEST(ZipUpdate, WhatIsDamagedIsRefusedOrWhole) {
  const std::string good = zipBytes({{.name = "r/a", .content = "content of a"}, {.name = "r/b", .content = "b"}});
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(updatedZip(asBytes(good.substr(0, cut)), {{"r/c", "c"}}).ok()) << cut;
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bad = good;
    for (std::size_t i = 1 + random() % 3; i > 0; --i) bad[random() % bad.size()] = static_cast<char>(random());
    (void)updatedZip(asBytes(bad), {{"r/c", "c"}, {"r/a", "other"}});  // an error or not: nothing outside is read
  }
  EXPECT_FALSE(updatedZip({}, {}).ok());
}

TEST(JsonSplice, OnlyTheMemberChanges) {
  const auto spliced = [](std::string_view text, const std::vector<std::string>& path, const std::string& key) {
    const auto result = withJsonMember(text, path, key, "7");
    return result.ok() ? result.value() : "error: " + result.error().text();
  };
  EXPECT_EQ(spliced(R"({"a": {"m": {}}, "b" : [1.50, {"m": 2}]})", {"a", "m"}, "k"),
            R"({"a": {"m": {"k": 7}}, "b" : [1.50, {"m": 2}]})");
  EXPECT_EQ(spliced(R"({"a":{"m":{"x":"}\"{","k" : {"deep":[1,2]} ,"z":null}}})", {"a", "m"}, "k"),
            R"({"a":{"m":{"x":"}\"{","k" : 7 ,"z":null}}})");
  EXPECT_EQ(spliced(R"( {"k": -1e5})", {}, "k"), R"( {"k": 7})");
  EXPECT_EQ(spliced(R"({"a": {"z": 1}})", {"a"}, "k"), R"({"a": {"k": 7, "z": 1}})");
  EXPECT_EQ(spliced(R"({"a": {"ke\u0079": 1}})", {"a"}, "key"), R"({"a": {"ke\u0079": 7}})");
  for (const char* bad : {"", "[]", "{", R"({"a": 1})", R"({"b": {}})", R"({"a": {}, "a": {}})"})
    EXPECT_EQ(spliced(bad, {"a"}, "k").substr(0, 6), "error:") << bad;
}

TEST(Base64, IsReadBackAsItWasWritten) {
  EXPECT_EQ(encodeBase64("fusescope"), "ZnVzZXNjb3Bl");
  EXPECT_EQ(encodeBase64("fuses"), "ZnVzZXM=");
  EXPECT_EQ(encodeBase64("fuse"), "ZnVzZQ==");
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(decodeBase64(encodeBase64(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
}

}  // namespace
}  // namespace fusescope::test
