# SPDX-License-Identifier: BSL-1.0
"""The nets on sequences in PyTorch: functions of named weights, but for the LSTM run eagerly and
the GRU, which are PyTorch's own layers."""
import torch
from torch import nn
from torch.nn import functional as F


class Own(nn.Module):
    """torch.nn.LSTM or torch.nn.GRU, PyTorch's fastest form where nothing is compiled. A GRU's
    biases of all recurrent products are as good as ours, which has the one that makes a difference."""

    def __init__(self, layer, sizes, arrays):
        super().__init__()
        width = sizes["width"]
        self.layer = layer(width, width, sizes["layers"], batch_first=True)
        self.head = nn.Linear(width, sizes["classes"])
        with torch.no_grad():
            for i in range(sizes["layers"]):
                for part, name in (("weight_ih", f"{i}.kernel"), ("weight_hh", f"{i}.recurrent"),
                                   ("bias_ih", f"{i}.bias")):
                    getattr(self.layer, f"{part}_l{i}").copy_(torch.from_numpy(arrays[name].T))
                getattr(self.layer, f"bias_hh_l{i}").zero_()
            self.head.weight.copy_(torch.from_numpy(arrays["head.kernel"].T))
            self.head.bias.zero_()

    def forward(self, x):
        """The LSTM's last step is classified, the GRU's are all."""
        seen = self.layer(x)[0]
        return self.head(seen[:, -1] if isinstance(self.layer, nn.LSTM) else seen).flatten(0, -2)


class Named(nn.Module):
    def __init__(self, sizes, arrays):
        super().__init__()
        self.sizes, self.names = sizes, {}
        for i, (name, array) in enumerate(arrays.items()):
            self.register_parameter(f"p{i}", nn.Parameter(torch.from_numpy(array.copy())))
            self.names[name] = f"p{i}"

    def p(self, name):
        return getattr(self, self.names[name])

    def dense(self, name, x):
        return F.linear(x, self.p(f"{name}.kernel").t(), self.p(f"{name}.bias"))


class Lstm(Named):
    """Step by step, the input's product for all steps at once: what torch.compile can see into."""

    def forward(self, x):
        x = x.transpose(0, 1)
        for i in range(self.sizes["layers"]):
            given, u = self.dense(f"{i}", x), self.p(f"{i}.recurrent")
            h = c = x.new_zeros(x.shape[1], self.sizes["width"])
            seen = []
            for t in range(self.sizes["steps"]):
                a, f, g, o = (given[t] + h @ u).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(a) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
                seen.append(h)
            x = torch.stack(seen)
        return self.dense("head", x[-1])


class Gpt(Named):
    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.p(f"{name}.scale"), self.p(f"{name}.offset"))

    def forward(self, x):
        n, t = x.shape
        heads, width = self.sizes["heads"], self.sizes["width"]
        x = F.embedding(x, self.p("symbols")) + self.p("places")
        for i in range(self.sizes["blocks"]):
            q, k, v = (part.view(n, t, heads, width // heads).transpose(1, 2)
                       for part in self.dense(f"{i}.qkv", self.norm(f"{i}.before", x)).chunk(3, -1))
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.dense(f"{i}.out", seen.transpose(1, 2).reshape(n, t, width))
            hidden = F.gelu(self.dense(f"{i}.up", self.norm(f"{i}.between", x)), approximate="tanh")
            x = x + self.dense(f"{i}.down", hidden)
        return self.dense("head", self.norm("last", x)).flatten(0, 1)


def build(model, sizes, arrays, compiled):
    if model == "lstm":
        return Lstm(sizes, arrays) if compiled else Own(nn.LSTM, sizes, arrays)
    if model == "gru":
        return Own(nn.GRU, sizes, arrays)
    return Gpt(sizes, arrays)
