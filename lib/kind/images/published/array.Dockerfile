# The storage array: one static Go program and nothing else. The context is its Go module.
FROM golang:1.26 AS build
WORKDIR /array
COPY go.mod go.sum ./
RUN go mod download
COPY *.go ./
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /forcedetach-array .

FROM scratch
COPY --from=build /forcedetach-array /forcedetach-array
ENTRYPOINT ["/forcedetach-array"]
