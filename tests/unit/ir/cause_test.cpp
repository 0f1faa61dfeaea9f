#include "ir/cause.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

TEST(Causes, TextsReadBackAsTheyWere) {
  for (const auto& [cause, text] : {std::pair(Cause("infer_types"), "infer_types"),
                                    {Cause("tensorrt-10"), "tensorrt-10"},
                                    {Cause::rule("conv"), "fuse_conv"},
                                    {Cause::option("--pin op:Conv=f32:obey"), "--pin op:Conv=f32:obey"},
                                    {Cause::directive("pin", "3"), "pin:3"},
                                    {Cause::directive("split", "my:own"), "split:my:own"}}) {
    EXPECT_EQ(cause.text(), text);
    EXPECT_EQ(Cause::fromText(text), cause) << text;
  }
}

TEST(Causes, AnOptionIsNoDirectiveOfAList) {
  EXPECT_TRUE(Cause::fromText("pin:3").isDirective());
  EXPECT_FALSE(Cause::fromText("--pin fc1=f32:obey").isDirective()) << "whatever colons it has";
  EXPECT_NE(Cause("pin:3"), Cause::directive("pin", "3")) << "a text is no cause until it is read";
}

}  // namespace
}  // namespace fusescope
