#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;

TEST(Dft, ForwardsBackwardsAndOneSided) {
  const Tensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  expectFloats(run("DFT", {x}), {1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2});
  const auto half = run("DFT", {x}, {{"onesided", Int{1}}});
  expectFloats(half, {1, 3, 2}, {10, 0, -2, 2, -2, 0});
  expectFloats(run("DFT", {half.value()[0]}, {{"onesided", Int{1}}, {"inverse", Int{1}}}), {1, 4, 1}, {1, 2, 3, 4});
  expectFloats(run("DFT", {run("DFT", {x}).value()[0]}, {{"inverse", Int{1}}}), {1, 4, 2}, {1, 0, 2, 0, 3, 0, 4, 0});
}

TEST(Dft, OddLengthsOtherLengthsAndOtherAxes) {
  const float s = std::sqrt(0.75F);
  expectFloats(run("DFT", {floats({1, 3, 1}, {1, 2, 3})}), {1, 3, 2}, {6, 0, -1.5F, s, -1.5F, -s});
  expectFloats(run("DFT", {floats({1, 3, 1}, {1, 2, 3}), ints({}, {2})}), {1, 2, 2}, {3, 0, -1, 0});
  expectFloats(run("DFT", {floats({1, 2, 1}, {1, 1}), ints({}, {4})}), {1, 4, 2}, {2, 0, 1, -1, 0, 0, 1, 1});
  expectFloats(run("DFT", {floats({2, 2, 1}, {1, 2, 3, 5}), Tensor(), ints({}, {0})}), {2, 2, 2},
               {4, 0, 7, 0, -2, 0, -3, 0});
  const auto odd =
      run("DFT", {floats({1, 2, 2}, {6, 0, -1.5F, s}), ints({}, {3})}, {{"onesided", Int{1}}, {"inverse", Int{1}}});
  expectFloats(odd, {1, 3, 1}, {1, 2, 3});
}

TEST(Dft, WhatDoesNotFitIsSaid) {
  const Tensor x = floats({1, 2, 1}, {1, 1});
  EXPECT_EQ(errorOf(run("DFT", {x, Tensor(), ints({}, {2})})),
            "node 'n': attribute 'axis': is the last axis, which contains the real and imaginary parts");
  EXPECT_EQ(errorOf(run("DFT", {x, ints({}, {0})})), "node 'n': dft_length is 0, expected 1 to 1099511627776");
  EXPECT_EQ(errorOf(run("DFT", {floats({1, 1, 3}, {1, 1, 1})})),
            "node 'n': the last axis has 3 elements, expected 1 (real) or 2 (real and imaginary part)");
  EXPECT_EQ(inferred("DFT", {"f32[b, n, 1]"}, {}, {{"onesided", Int{1}}}), "f32[b, ?, 2]");
}

TEST(Stft, FramesAndWindows) {
  const Tensor x = floats({1, 4, 1}, {1, 2, 3, 4}), two = ints({}, {2});
  expectFloats(run("STFT", {x, two, Tensor(), two}), {1, 2, 2, 2}, {3, 0, -1, 0, 7, 0, -1, 0});
  expectFloats(run("STFT", {x, two, floats({2}, {1, 0})}), {1, 2, 2, 2}, {1, 0, 1, 0, 3, 0, 3, 0});
  expectFloats(run("STFT", {x, ints({}, {1}), Tensor(), ints({}, {4})}, {{"onesided", Int{0}}}), {1, 1, 4, 2},
               {10, 0, -2, 2, -2, 0, -2, -2});
  const Tensor withoutParts = floats({1, 4}, {1, 2, 3, 4});
  expectFloats(run("STFT", {withoutParts, two, Tensor(), two}), {1, 2, 2, 2}, {3, 0, -1, 0, 7, 0, -1, 0});
  EXPECT_EQ(inferred("STFT", {"f32[b, 8]", "i64[]", "f32[4]"}), "f32[b, ?, 3, 2]");
  EXPECT_EQ(errorOf(run("STFT", {floats({4}, {1, 2, 3, 4}), two, Tensor(), two})),
            "node 'n': input 0 has rank 1, expected 3");
  EXPECT_EQ(errorOf(run("STFT", {x, two, Tensor(), ints({}, {5})})),
            "node 'n': a frame of 5 samples does not fit into a signal of 4 samples");
  EXPECT_EQ(errorOf(run("STFT", {x, ints({}, {0}), Tensor(), two})),
            "node 'n': frame_step is 0, expected 1 to 1099511627776");
}

TEST(SignalWindows, PeriodicAndSymmetric) {
  const Attributes symmetric{{"periodic", Int{0}}};
  expectFloats(run("HannWindow", {ints({}, {4})}), {4}, {0, 0.5F, 1, 0.5F});
  expectFloats(run("HannWindow", {ints({}, {3})}, symmetric), {3}, {0, 1, 0});
  expectFloats(run("HammingWindow", {ints({}, {3})}, symmetric), {3}, {4.0F / 46, 1, 4.0F / 46});
  expectFloats(run("BlackmanWindow", {ints({}, {3})}, symmetric), {3}, {0, 1, 0});
  expectFloats(run("HannWindow", {ints({}, {1})}, symmetric), {1}, {1});
  EXPECT_EQ(inferred("HannWindow", {}, {ints({}, {8})}, {{"output_datatype", Int{11}}}), "f64[8]");
  EXPECT_EQ(errorOf(run("HannWindow", {ints({}, {-1})})),
            "node 'n': size would be -1, but an extent cannot be negative");
  EXPECT_EQ(errorOf(run("HannWindow", {ints({}, {Int{1} << 50})})),
            "node 'n': the result of HannWindow would have extents [1125899906842624], which is too large");
}

TEST(MelWeightMatrix, TrianglesOnTheMelScale) {
  // One band from 0 to 4000 Hz begins at bin 0, peaks at 620.6 Hz (bin 0) and ends at 1791.3 Hz (bin 2).
  const std::vector<Tensor> inputs{ints({}, {1}), ints({}, {8}), ints({}, {8000}), floats({}, {0}), floats({}, {4000})};
  expectFloats(run("MelWeightMatrix", inputs), {5, 1}, {1, 0.5F, 0, 0, 0});
  std::vector<Tensor> reversed = inputs;
  std::swap(reversed[3], reversed[4]);
  EXPECT_EQ(errorOf(run("MelWeightMatrix", reversed)),
            "node 'n': the mel bands from 4000 to 0 Hz are not possible with a sample rate of 8000 Hz");
}

}  // namespace
}  // namespace fusescope::testing
