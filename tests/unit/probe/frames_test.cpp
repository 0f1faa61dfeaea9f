// The lines and bytes of the protocol, and the hash by which files are known.
#include "probe/frames.h"

#include <gtest/gtest.h>

#include "probe/file_names.h"
#include "probe/file_transfer.h"
#include "probe/sha256.h"
#include "tests/support/paths.h"

using namespace fusescope;

namespace {

/// All frames of `bytes`, fed in pieces of `size`; the error's message at the end if there is one.
std::vector<std::string> framesOf(std::string_view bytes, std::size_t size) {
  std::vector<std::string> all;
  FrameReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    reader.feed(bytes.substr(at, size));
    for (;;) {
      const auto frame = reader.next();
      if (!frame.ok()) return all.push_back("error: " + frame.error().message), all;
      if (!frame.value()) break;
      all.push_back(frame.value()->header.dump() + "|" + frame.value()->payload);
    }
  }
  return all;
}

TEST(Frames, AreTheSameHoweverTheyArrive) {
  const std::string bytes = toBytes({{"op", "a"}}) + toBytes({{"op", "b"}}, "1\n2{}\n") +
                            toBytes({{"x", 1}, {"y", {1, 2}}}) + toBytes({}, "z");
  const std::vector<std::string> expected{R"({"op":"a"}|)", "{\"op\":\"b\",\"bytes\":6}|1\n2{}\n",
                                          R"({"x":1,"y":[1,2]}|)", R"({"bytes":1}|z)"};
  for (std::size_t size = 1; size <= bytes.size(); ++size) EXPECT_EQ(framesOf(bytes, size), expected) << size;
}

TEST(Frames, WhatIsNoneIsAnError) {
  for (const std::string bytes :
       {"x\n", "[]\n", "{\"a\":}\n", "\n", "{\"bytes\":-1}\n", "{\"bytes\":1.5}\n", "{\"bytes\":\"1\"}\n",
        "{\"bytes\":1048577}\n", "{\"bytes\":99999999999999999999}\n", "{\"a\":\"\xff\"}\n", "{}}\n"}) {
    const auto frames = framesOf(bytes, 3);
    ASSERT_EQ(frames.size(), 1U) << bytes;
    EXPECT_TRUE(frames[0].starts_with("error: sent data that does not follow its protocol")) << frames[0];
  }
}

TEST(Frames, TextThatIsNoUtf8IsMadeSo) {
  const auto frames = framesOf(toBytes({{"a", "x\xffy"}}), 100);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0], "{\"a\":\"x\xef\xbf\xbdy\"}|");
}

TEST(FileNames, LeadNowhereElse) {
  for (const char* good : {"a", "a/b/c", "a b", "..a", "a..", ".a"}) EXPECT_TRUE(isSafeFileName(good)) << good;
  for (const char* bad : {"", "/a", "a/", "a//b", "..", "../a", "a/..", "a/../b", ".", "a/./b", "a\\b"})
    EXPECT_FALSE(isSafeFileName(bad)) << bad;
  EXPECT_FALSE(isSafeFileName(std::string("a\0b", 3)));
  EXPECT_FALSE(isSafeFileName(std::string(2000, 'a')));
}

TEST(Sha256, IsTheStandards) {
  const auto of = [](const std::string& text, std::size_t piece) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) hash.add(std::string_view(text).substr(at, piece));
    return hash.hex();
  };
  EXPECT_EQ(of("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(of("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 5),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(of(std::string(1'000'000, 'a'), 777), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (const std::size_t size : {55U, 56U, 63U, 64U, 65U, 119U, 120U})
    EXPECT_EQ(of(std::string(size, 'b'), 1), of(std::string(size, 'b'), size)) << size;
}

TEST(FileReceiver, TakesOnlyWhatIsDue) {
  const test::TemporaryFolder folder;
  const Json files = Json::array({{{"name", "a/b"}, {"size", 3}}});
  const auto piece = [](std::uint64_t at, const std::string& bytes, int file = 0) {
    return Frame{.header = {{"event", "piece"}, {"file", file}, {"at", at}}, .payload = bytes};
  };
  const auto end = [](const std::string& sha256) {
    return Frame{.header = {{"event", "file"}, {"file", 0}, {"sha256", sha256}}};
  };
  const auto receiver = [&] { return std::move(FileReceiver::forAnswer(files, folder.path())).value(); };
  auto good = receiver();
  EXPECT_TRUE(good.take(piece(0, "ab")).ok());
  EXPECT_TRUE(good.take(piece(2, "c")).ok());
  EXPECT_TRUE(good.take(end("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")).ok());
  EXPECT_TRUE(good.isDone());
  EXPECT_FALSE(good.take(piece(0, "ab")).ok());
  auto wrongPlace = receiver();
  EXPECT_FALSE(wrongPlace.take(piece(1, "ab")).ok());
  auto tooMuch = receiver();
  EXPECT_FALSE(tooMuch.take(piece(0, "abcd")).ok());
  auto otherFile = receiver();
  EXPECT_FALSE(otherFile.take(piece(0, "abc", 1)).ok());
  auto otherHash = receiver();
  EXPECT_TRUE(otherHash.take(piece(0, "abd")).ok());
  EXPECT_FALSE(otherHash.take(end("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")).ok());
  EXPECT_FALSE(FileReceiver::forAnswer(Json::array({{{"name", "../a"}, {"size", 3}}}), folder.path()).ok());
  EXPECT_FALSE(FileReceiver::forAnswer(Json::array({3}), folder.path()).ok());
}

}  // namespace
