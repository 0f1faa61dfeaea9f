// What a team keeps in a Redis, and what happens where that dies, or is none.
#include "cache/redis_place.h"

#include <netinet/in.h>

#include <atomic>

#include "tests/unit/shared_cache/redis_server.h"

namespace fusescope {
namespace {

class RedisPlaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::isInstalled()) GTEST_SKIP() << "redis-server is not installed";
  }
  std::shared_ptr<SharedStore> open(const RedisServer& server, const SigningKey& key = teamKey()) const {
    return std::make_shared<SharedStore>(server.place(), key, SharedStoreOptions{.now = m_clock.clock()});
  }
  StandingClock m_clock;
};

TEST_F(RedisPlaceTest, AnotherMachineFindsWhatOneKept) {
  const RedisServer server;
  const std::string bytes = sharedContent(1, 1, 3'000'000);
  ASSERT_TRUE(open(server)->keep(answerFacts(), "key", bytes));
  const auto kept = open(server)->find("answer", "key");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->bytes, bytes);
  EXPECT_EQ(kept->where, "redis");
  EXPECT_EQ(kept->facts.madeMs, 50);
  EXPECT_FALSE(open(server)->find("answer", "another key").has_value());
  ASSERT_TRUE(open(server)->keep(answerFacts(), "key", "later"));
  EXPECT_EQ(foundIn(*open(server), "key"), "later");
}

TEST_F(RedisPlaceTest, DatabasesAreApartAndOneThatIsNotThereIsSaid) {
  const RedisServer server;
  const auto in = [&](int database) {
    return std::make_shared<SharedStore>(
        redisPlace({.path = server.socketPath(), .database = database}, {.limit = kEnoughTime}), teamKey());
  };
  ASSERT_TRUE(in(2)->keep(answerFacts(), "key", "bytes"));
  EXPECT_EQ(foundIn(*in(2), "key"), "bytes");
  EXPECT_EQ(foundIn(*in(0), "key"), "nothing");
  const auto none = in(9999);
  EXPECT_EQ(foundIn(*none, "key"), "nothing");
  EXPECT_NE(none->problem().find("it has no database 9999"), std::string::npos) << none->problem();
}

TEST_F(RedisPlaceTest, IsReachedByItsPort) {
  Descriptor free(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(free.number(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(free.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  free.close();
  const int port = ntohs(address.sin_port);
  const RedisServer server({"--bind", "127.0.0.1", "--port", std::to_string(port)});
  SharedStore store(redisPlace({.host = "127.0.0.1", .port = port, .database = 1}, {.limit = kEnoughTime}), teamKey());
  ASSERT_TRUE(store.keep(answerFacts(), "key", sharedContent(1, 1, 3'000'000))) << store.problem();
  EXPECT_EQ(foundIn(store, "key"), sharedContent(1, 1, 3'000'000));
}

TEST_F(RedisPlaceTest, ForgetsAfterTheTimeThatWasSaid) {
  const RedisServer server;
  const auto place = redisPlace({.path = server.socketPath(), .expireSeconds = 1}, {.limit = kEnoughTime});
  const std::string name(64, 'a');
  ASSERT_TRUE(place->put(name, "bytes").ok());
  for (int i = 0; i < 600 && place->get(name).value().has_value(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(place->get(name).value().has_value());
}

TEST_F(RedisPlaceTest, WhatOthersPutThereIsNotTaken) {
  const RedisServer server;
  const std::string name = sharedName("answer", "key");
  const auto store = open(server);
  for (const std::string& bytes : {std::string(), std::string("rubbish"), std::string(100'000, '\0')}) {
    ASSERT_TRUE(server.place()->put(name, bytes).ok());
    EXPECT_EQ(foundIn(*store, "key"), "nothing");
  }
  ASSERT_TRUE(open(server, otherKey())->keep(answerFacts(), "key", "theirs"));
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  ASSERT_TRUE(store->keep(answerFacts(), "other", "of another"));
  const auto blob = server.place()->get(sharedName("answer", "other"));
  ASSERT_TRUE(server.place()->put(name, *blob.value()).ok());
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  EXPECT_EQ(store->takeDamaged().size(), 5U);
  ASSERT_TRUE(store->keep(answerFacts(), "key", "ours"));
  EXPECT_EQ(foundIn(*store, "key"), "ours");
}

TEST_F(RedisPlaceTest, KilledItIsLeftAloneAndUsedAgainWhenItIsBack) {
  RedisServer server;
  const auto store = open(server);
  ASSERT_TRUE(store->keep(answerFacts(), "key", "bytes"));
  server.kill();
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  EXPECT_NE(store->problem().find("is not used for 30 s: it cannot be reached"), std::string::npos) << store->problem();
  EXPECT_FALSE(store->keep(answerFacts(), "key", "bytes"));
  server.start();
  EXPECT_FALSE(store->keep(answerFacts(), "key", "bytes"));
  m_clock.pass(std::chrono::seconds(30));
  EXPECT_TRUE(store->keep(answerFacts(), "key", "bytes"));
  EXPECT_EQ(foundIn(*store, "key"), "bytes");
}

TEST_F(RedisPlaceTest, StartedAnewBetweenTwoQuestionsItIsAskedByAnotherConnection) {
  RedisServer server;
  const auto store = open(server);
  ASSERT_TRUE(store->keep(answerFacts(), "key", "bytes"));
  server.kill();
  server.start();
  EXPECT_EQ(foundIn(*store, "key"), "nothing");  // it has forgotten
  EXPECT_EQ(store->problem(), "");
  server.kill();
  server.start();
  EXPECT_TRUE(store->keep(answerFacts(), "key", sharedContent(1, 1, 1'000'000)));
  EXPECT_EQ(store->problem(), "");
}

TEST_F(RedisPlaceTest, KilledAtAnyMomentWhileItIsUsedItGivesRightBytesOrNone) {
  RedisServer server;
  std::mt19937 random(7);
  int found = 0;
  for (int round = 0; round < 10; ++round) {
    std::atomic<bool> isOver{false};
    std::thread killer([&, pause = 5 + random() % 60] {
      std::this_thread::sleep_for(std::chrono::milliseconds(pause));
      server.kill();
      isOver = true;
    });
    const auto store = open(server);
    for (int i = 0; !isOver; ++i) {
      store->keep(answerFacts(), std::to_string(i % 4), sharedContent(i % 4, i, 100'000));
      for (int key = 0; key < 4; ++key)
        if (const auto kept = store->find("answer", std::to_string(key))) {
          ++found;
          EXPECT_TRUE(isSharedContent(kept->bytes, key, 100'000));
        }
      m_clock.pass(std::chrono::seconds(600));
    }
    killer.join();
    EXPECT_TRUE(store->takeDamaged().empty());
    server.start();
  }
  EXPECT_GT(found, 0);
}

TEST_F(RedisPlaceTest, WhatIsTooLargeIsNotKeptAndAFullOneIsStillAsked) {
  const RedisServer server;
  SharedStore small(server.place({.limit = kEnoughTime, .mostBytes = 2000}), teamKey());
  EXPECT_FALSE(small.keep(answerFacts(), "key", sharedContent(1, 1)));
  EXPECT_EQ(small.problem(), "");
  EXPECT_TRUE(small.keep(answerFacts(), "key", "bytes"));
  ASSERT_TRUE(open(server)->keep(answerFacts(), "large", sharedContent(1, 1)));
  EXPECT_EQ(foundIn(small, "large"), "nothing");
  EXPECT_NE(small.problem().find("its answer is larger than an entry can be"), std::string::npos) << small.problem();

  const RedisServer full({"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  const auto store = open(full);
  EXPECT_FALSE(store->keep(answerFacts(), "key", "bytes"));
  EXPECT_EQ(store->problem().find("nothing is written to Redis at"), 0U) << store->problem();
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  EXPECT_EQ(store->problem().find("nothing is written to Redis at"), 0U);
}

void say(int connection, std::string_view text) {
  std::ignore = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}
/// False: the other side is gone.
bool hear(int connection) {
  char bytes[4096];
  return ::recv(connection, bytes, sizeof bytes, 0) > 0;
}
void hearAll(int connection) {
  while (hear(connection)) {
  }
}

struct Oddity {
  const char* name;
  std::function<void(int)> serve;
};

const std::vector<Oddity>& oddities() {
  static const std::vector<Oddity> all{
      {"never answers", hearAll},
      {"ends the connection", [](int) {}},
      {"answers rubbish", [](int to) { hear(to), say(to, "HTTP/1.1 400 Bad Request\r\n\r\n"), hearAll(to); }},
      {"answers zeros", [](int to) { hear(to), say(to, std::string(100'000, '\0')), hearAll(to); }},
      {"announces a huge list", [](int to) { hear(to), say(to, "*2000000000\r\n"), hearAll(to); }},
      {"announces a huge value", [](int to) { hear(to), say(to, "$9223372036854775800\r\nabc"), hearAll(to); }},
      {"announces a negative value", [](int to) { hear(to), say(to, "$-5\r\n"), hearAll(to); }},
      {"sends a value without end",
       [](int to) {
         hear(to);
         say(to, "$999999999999\r\n");
         const std::string piece(1 << 16, 'x');
         while (::send(to, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
         }
       }},
      {"stops within a value", [](int to) { hear(to), say(to, "$1000\r\nabc"), hearAll(to); }},
      {"sends a byte at a time",
       [](int to) {
         hear(to);
         say(to, "$1000\r\n");
         for (int i = 0; i < 200 && ::send(to, "x", 1, MSG_NOSIGNAL) > 0; ++i)
           std::this_thread::sleep_for(std::chrono::milliseconds(20));
       }},
      {"answers twice", [](int to) { hear(to), say(to, "$-1\r\n$3\r\nabc\r\n"), hearAll(to); }},
      {"answers a number", [](int to) { hear(to), say(to, ":7\r\n"), hearAll(to); }},
      {"answers an error", [](int to) { hear(to), say(to, "-NOAUTH \x1b[31mno\r\n"), hearAll(to); }}};
  return all;
}

TEST(OddRedis, IsWaitedForOnceAndThenLeftAlone) {
  for (const Oddity& oddity : oddities()) {
    const OddServer server(oddity.serve);
    SharedStore store(redisPlace({.path = server.path()}), teamKey());
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(foundIn(store, "key"), "nothing") << oddity.name;
    const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - start;
    EXPECT_NE(store.problem().find("is not used for 30 s"), std::string::npos) << oddity.name;
    EXPECT_EQ(store.problem().find('\x1b'), std::string::npos);
    const int asked = server.connections();
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(foundIn(store, "key"), "nothing");
      EXPECT_FALSE(store.keep(answerFacts(), "key", "bytes"));
    }
    EXPECT_EQ(server.connections(), asked) << oddity.name;
    EXPECT_LE(asked, 1) << oddity.name;
    std::cout << "a server that " << oddity.name << ": " << first.count() << " ms once; " << store.problem() << "\n";
  }
}

/// The connection that is odd now has worked before, so that another one is tried once.
TEST(OddRedis, IsLeftAloneAfterGoodAnswersToo) {
  constexpr int kGood = 3;
  for (const Oddity& oddity : oddities()) {
    std::atomic<int> good{kGood};
    const OddServer server([&](int to) {
      for (; good > 0; --good) {
        if (!hear(to)) return;
        say(to, "$-1\r\n");
      }
      oddity.serve(to);
    });
    SharedStore store(redisPlace({.path = server.path()}, {.limit = std::chrono::seconds(1)}), teamKey());
    for (int i = 0; i < kGood; ++i) EXPECT_EQ(foundIn(store, "key"), "nothing") << oddity.name;
    EXPECT_EQ(store.problem(), "") << oddity.name;
    EXPECT_EQ(foundIn(store, "key"), "nothing") << oddity.name;
    EXPECT_NE(store.problem().find("is not used for 30 s"), std::string::npos) << oddity.name;
    for (int i = 0; i < 50; ++i) EXPECT_EQ(foundIn(store, "key"), "nothing");
    EXPECT_LE(server.connections(), 2) << oddity.name;
  }
}

TEST(OddRedis, ThatTakesNothingEndsNoProcess) {
  for (const Oddity& oddity : oddities()) {
    const OddServer server(oddity.serve);
    SharedStore store(redisPlace({.path = server.path()}), teamKey());
    EXPECT_FALSE(store.keep(answerFacts(), "key", sharedContent(1, 1, 3'000'000))) << oddity.name;
    EXPECT_NE(store.problem(), "") << oddity.name;
  }
}

TEST(RedisAddressText, IsReadOrRefused) {
  const auto tcp = redisAddress("redis://cache.example:7000/3?expire=60");
  ASSERT_TRUE(tcp.ok());
  EXPECT_EQ(tcp.value().host, "cache.example");
  EXPECT_EQ(tcp.value().port, 7000);
  EXPECT_EQ(tcp.value().database, 3);
  EXPECT_EQ(tcp.value().expireSeconds, 60);
  EXPECT_EQ(redisAddress("redis://host").value().port, 6379);
  EXPECT_EQ(redisAddress("redis://host/").value().database, 0);
  EXPECT_EQ(redisAddress("unix:/run/redis").value().path, "/run/redis");
  for (const char* wrong :
       {"", "redis://", "redis:host", "unix:", "redis://host:0", "redis://host:99999", "redis://h:x", "redis://host/x",
        "redis://host/-1", "redis://host?expire=0", "redis://host?expire=x"})
    EXPECT_FALSE(redisAddress(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace fusescope
