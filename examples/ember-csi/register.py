"""Gives kubelet the driver's name and socket, as node-driver-registrar does: no call to the driver passes through it."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

name, socket = sys.argv[1:]


def field(number, text):
    return bytes([number << 3 | 2, len(text)]) + text.encode()


info = field(1, 'CSIPlugin') + field(2, name) + field(3, socket) + field(4, '1.1.0')
answers = {'GetInfo': lambda *_: info, 'NotifyRegistrationStatus': lambda status, _: print(status) or b''}
handlers = {method: grpc.unary_unary_rpc_method_handler(answer) for method, answer in answers.items()}
server = grpc.server(ThreadPoolExecutor(1))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler('pluginregistration.Registration', handlers)])
path = f'/registration/{name}-reg.sock'
if os.path.exists(path):
    os.unlink(path)
server.add_insecure_port(f'unix://{path}')
server.start()
server.wait_for_termination()
